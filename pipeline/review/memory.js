// What this browser keeps for the page, read back field by field: a field of another shape than it was
// written in starts afresh, whatever wrote it, and all others stay.
//   soundWork({scores: {caption_accuracy: {score: 4, comment: "", seconds: 38.5}}, seconds: "long", revealed: false})
//   -> {value: {scores: {caption_accuracy: {score: 4, ...}}, seconds: 0, revealed: false}, sound: false}
const CODES = CRITERIA.map((one) => one.code);
const LONGEST_COMMENT = 2000;
let unsaved = 0;  // changes that this browser could not keep

function keyOf(name) {
  return `review ${page.page_id} ${name}`;
}

// Return what is kept; null where there is nothing, undefined for what cannot be read.
// The browser may refuse memory to files opened from disk; then there is nothing, and the page says so.
function recall(name) {
  let text = null;
  try { text = localStorage.getItem(keyOf(name)); } catch { return null; }
  if (text === null) return null;
  try { return JSON.parse(text) ?? undefined; } catch { return undefined; }
}

function remember(name, value) {
  try {
    localStorage.setItem(keyOf(name), JSON.stringify(value));
    unsaved = 0;
  } catch {
    unsaved += 1;
  }
}

const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isFlag = (value) => typeof value === "boolean";
const isScore = (value) => [1, 2, 3, 4, 5].includes(value);
const isTime = (value) => Number.isFinite(value) && value >= 0;
const isText = (value) => typeof value === "string";
const isComment = (value) => isText(value) && value.length <= LONGEST_COMMENT;
const isAt = (value) => isRecord(value) && (value.trip === null || isText(value.trip)) && CODES.includes(value.criterion);
const orNull = (fits) => (value) => value === null || fits(value);

// Return what `read` makes of something kept, and whether every field it takes was as it should be.
function heldToShape(read) {
  let sound = true;
  const take = (found, fits, instead) => {
    if (fits(found)) return found;
    sound = false;
    return instead;
  };
  const value = read(take);
  return {value, sound};
}

function soundScore(found, revealed, take) {
  const own = take(found, isRecord, {score: null, comment: "", seconds: 0});
  const score = take(own.score, orNull(isScore), null);
  const isSecondThought = (value) => revealed && isScore(value) && value !== score;
  return {
    score, revised: take(own.revised ?? null, orNull(isSecondThought), null),
    comment: take(own.comment, isComment, ""), seconds: take(own.seconds, isTime, 0),
  };
}

function soundWork(found) {
  return heldToShape((take) => {
    const own = take(found, isRecord, {});
    const revealed = take(own.revealed, isFlag, false);
    const scores = take(own.scores, isRecord, {});
    const known = CODES.filter((code) => code in scores).map((code) => [code, soundScore(scores[code], revealed, take)]);
    return {scores: Object.fromEntries(known), seconds: take(own.seconds, isTime, 0), revealed};
  });
}

function soundDesk(found, fresh) {
  return heldToShape((take) => {
    const own = take(found, isRecord, fresh);
    return {at: take(own.at, isAt, fresh.at), exported: take(own.exported, orNull(isText), null), changed: take(own.changed, isTime, 0)};
  });
}
