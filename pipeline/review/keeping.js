// What the rater has done: kept in this browser at each step, exported to a file, brought back.
//   kept.trips["17"] = {scores: {caption_accuracy: {score: 4, revised: null, comment: "", seconds: 38.5}}, seconds: 41.2, revealed: false}
// `score` is the first one, given blind; once the models' scores are revealed only `revised` changes.
// Each trip has a key of its own, so that two windows on one page do not undo each other's work.
const itemOf = new Map(page.items.map((item) => [item.trip_id, item]));
const NO_WORK = {scores: {}, seconds: 0, revealed: false};
let rater = null;
let kept = nothingKept();

function nothingKept() {
  return {trips: {}, at: {trip: null, criterion: CODES[0]}, exported: null, changed: 0};
}

// Return what is kept of a rater, and the trips (null: the desk) of which some could not be read.
function recallRater(name) {
  const unreadable = [];
  const taken = (what, {value, sound}) => {
    if (!sound) unreadable.push(what);
    return value;
  };
  const desk = recall(name), fresh = nothingKept();
  const trips = page.items.map((item) => [item.trip_id, recall(`${name} ${item.trip_id}`)]).filter(([, work]) => work !== null);
  return {
    kept: {
      ...fresh, ...(desk === null ? {} : taken(null, soundDesk(desk, fresh))),
      trips: Object.fromEntries(trips.map(([trip_id, work]) => [trip_id, taken(trip_id, soundWork(work))])),
    },
    unreadable,
  };
}

function keepDesk() {
  const {at, exported, changed} = kept;
  remember(rater, {at, exported, changed});
  showKept();
}

function keepTrip(trip_id) {
  remember(`${rater} ${trip_id}`, workOn(trip_id));
  keepDesk();
}

function workOn(trip_id) {
  return kept.trips[trip_id] || NO_WORK;
}

function work(trip_id, news) {
  kept.trips[trip_id] = {...workOn(trip_id), ...news};
}

function given(trip_id, criterion) {
  return workOn(trip_id).scores[criterion] || {score: null, revised: null, comment: "", seconds: 0};
}

function change(trip_id, criterion, news) {
  work(trip_id, {scores: {...workOn(trip_id).scores, [criterion]: {...given(trip_id, criterion), ...news}}});
  kept.changed += 1;
  keepTrip(trip_id);
}

function isScored({scores}) {
  return CODES.every((code) => scores[code] && scores[code].score !== null);
}

function scoresOf(trip_id) {
  return CODES.filter((code) => given(trip_id, code).score !== null).length;
}

function isDone(trip_id) {
  return isScored(workOn(trip_id));
}

// ---- out and in ---------------------------------------------------------------------------------

function rowsOf() {
  const trips = Object.keys(kept.trips).filter((id) => itemOf.has(id)).sort();
  return trips.flatMap((trip_id) => CODES.filter((code) => given(trip_id, code).score !== null).map((criterion) => {
    const {score, revised, comment, seconds} = given(trip_id, criterion);
    const row = {
      trip_id, rater, criterion, score, revealed: workOn(trip_id).revealed, revised: revised ?? null, comment: comment.toWellFormed ? comment.toWellFormed() : comment, seconds,
      rubric_hash: page.rubric_hash, item_hash: itemOf.get(trip_id).hash,
    };
    return {...row, checksum: checksumOf(row)};
  }));
}

// CRC-32 of the other fields, as `checksum` of pipeline/quality/ratings.py: a line changed by accident is noticed.
function checksumOf(row) {
  const scored = [row.trip_id, row.rater, row.criterion, row.score, row.revealed, row.revised];
  const fields = [...scored, row.comment, Math.round(10 * row.seconds), row.rubric_hash, row.item_hash];
  let crc = -1;
  for (const byte of new TextEncoder().encode(JSON.stringify(fields))) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ((crc ^ -1) >>> 0).toString(16).padStart(8, "0");
}

function strayComments() {
  return Object.values(kept.trips).flatMap((own) => Object.values(own.scores)).filter((one) => one.score === null && one.comment).length;
}

function exportFile() {
  const text = rowsOf().map((row) => JSON.stringify(row) + "\n").join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "application/x-ndjson"}));
  link.download = `${page.city}-${rater}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  kept.exported = new Date().toISOString();
  kept.changed = 0;
  keepDesk();
}

// Return the rows of an exported file; a fault of any line is an Error that names it.
function rowsIn(text) {
  const lines = text.replace(/^\ufeff/, "").split("\n").map((line, i) => [i + 1, line]).filter(([, line]) => line.trim());
  if (!lines.length) throw new Error("There is no rating in this file.");
  return lines.map(([number, line]) => {
    let row;
    try { row = JSON.parse(line); } catch { throw new Error(`Line ${number} is no rating: it is not JSON.`); }
    const fault = faultOf(row);
    if (fault) throw new Error(`Line ${number}: ${fault}`);
    return row;
  });
}

function faultOf(row) {
  if (row === null || typeof row !== "object" || !CODES.includes(row.criterion)) return "it is no rating by this rubric.";
  if (row.rater !== rater) return `it is by ${row.rater}, and you are ${rater}.`;
  if (!isScore(row.score)) return `the score is ${JSON.stringify(row.score)}, not 1 to 5.`;
  if (!isFlag(row.revealed)) return "it does not say whether the models' scores were shown.";
  if (row.revised !== null && !(row.revealed && isScore(row.revised) && row.revised !== row.score)) return `the second thought is ${JSON.stringify(row.revised)}.`;
  if (!isComment(row.comment) || !isTime(row.seconds)) return "comment or seconds are missing.";
  if (row.rubric_hash !== page.rubric_hash) return `it is by the rubric ${row.rubric_hash}, this page by ${page.rubric_hash}.`;
  const item = itemOf.get(row.trip_id);
  if (!item) return `trip ${row.trip_id} is not on this page.`;
  if (item.hash !== row.item_hash) return `the texts of trip ${row.trip_id} were others then.`;
  if (row.checksum !== checksumOf(row)) return "it was changed after it was exported. Load the file as it was.";
  return null;
}

function differing(rows) {
  return rows.filter((row) => {
    const own = given(row.trip_id, row.criterion);
    const both = (own.revised ?? null) !== null && row.revised !== null;
    return own.score !== null && (own.score !== row.score || own.comment !== row.comment || (both && own.revised !== row.revised));
  });
}

// A first score stays once the models' scores were shown here, whatever the file says.
function standsFirst(row) {
  const {score} = given(row.trip_id, row.criterion);
  return workOn(row.trip_id).revealed && score !== null && score !== row.score;
}

function takeIn(every) {
  const rows = every.filter((row) => !standsFirst(row));
  for (const {trip_id, criterion, score, revealed, revised, comment, seconds} of rows) {
    const own = workOn(trip_id);
    const row = {score, revised: revised ?? given(trip_id, criterion).revised, comment, seconds};
    work(trip_id, {scores: {...own.scores, [criterion]: row}, seconds: Math.max(own.seconds, seconds), revealed: own.revealed || revealed});
  }
  new Set(rows.map((row) => row.trip_id)).forEach(keepTrip);
}

// ---- time -----------------------------------------------------------------------------------------

// Seconds count while the page is in view and a hand has moved within the last minute.
const IDLE_S = 60;
let lastMove = performance.now(), lastTick = performance.now();

function tick(now) {
  const passed = Math.min(2, (now - lastTick) / 1000);
  lastTick = now;
  if (rater && kept.at.trip && !document.hidden && now - lastMove < 1000 * IDLE_S && !isDone(kept.at.trip)) {
    work(kept.at.trip, {seconds: workOn(kept.at.trip).seconds + passed});
  }
}

for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "scroll"]) {
  addEventListener(kind, () => { lastMove = performance.now(); }, {capture: true, passive: true});
}
setInterval(() => tick(performance.now()), 1000);
