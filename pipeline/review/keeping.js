// What the rater has done: kept in this browser at each step, exported to a file, brought back.
//   kept.scores["17"]["caption_accuracy"] = {score: 4, comment: "", seconds: 38.5}
const CODES = CRITERIA.map((one) => one.code);
const itemOf = new Map(page.items.map((item) => [item.trip_id, item]));
let rater = null;
let kept = nothingKept();
let unsaved = 0;  // changes that this browser could not keep

function nothingKept() {
  return {scores: {}, seconds: {}, revealed: [], at: {trip: null, criterion: CODES[0]}, exported: null, changed: 0};
}

// The browser may have no memory for files opened from disk; then the page says so.
function memory() {
  try { return window.localStorage; } catch { return null; }
}

function keyOf(name) {
  return `review ${page.page_id} ${page.page_version} ${name}`;
}

function recall(name) {
  try { return JSON.parse(memory().getItem(keyOf(name))); } catch { return null; }
}

function keep() {
  try {
    memory().setItem(keyOf(rater), JSON.stringify(kept));
    unsaved = 0;
  } catch {
    unsaved += 1;
  }
  showKept();
}

function rememberRater() {
  try { memory().setItem(keyOf(""), JSON.stringify(rater)); } catch { /* keep() warns */ }
}

function given(tripId, criterion) {
  return (kept.scores[tripId] || {})[criterion] || {score: null, comment: "", seconds: 0};
}

function change(tripId, criterion, news) {
  kept.scores[tripId] = {...kept.scores[tripId], [criterion]: {...given(tripId, criterion), ...news}};
  kept.changed += 1;
  keep();
}

function scoresOf(tripId) {
  return CODES.filter((code) => given(tripId, code).score !== null).length;
}

function isDone(tripId) {
  return scoresOf(tripId) === CODES.length;
}

function isRevealed(tripId) {
  return kept.revealed.includes(tripId);
}

// ---- out and in ---------------------------------------------------------------------------------

function rowsOf() {
  const trips = Object.keys(kept.scores).filter((id) => itemOf.has(id)).sort();
  return trips.flatMap((trip_id) => CODES.filter((code) => given(trip_id, code).score !== null).map((criterion) => {
    const {score, comment, seconds} = given(trip_id, criterion);
    return {
      trip_id, rater, criterion, score, comment: comment.toWellFormed ? comment.toWellFormed() : comment, seconds,
      page_version: page.page_version, item_hash: itemOf.get(trip_id).hash,
    };
  }));
}

function strayComments() {
  return Object.values(kept.scores).flatMap((own) => Object.values(own)).filter((one) => one.score === null && one.comment).length;
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
  keep();
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
  if (![1, 2, 3, 4, 5].includes(row.score)) return `the score is ${JSON.stringify(row.score)}, not 1 to 5.`;
  if (typeof row.comment !== "string" || !(row.seconds >= 0)) return "comment or seconds are missing.";
  if (row.page_version !== page.page_version) return `it is by version ${row.page_version} of the rubric, this page by version ${page.page_version}.`;
  const item = itemOf.get(row.trip_id);
  if (!item) return `trip ${row.trip_id} is not on this page.`;
  if (item.hash !== row.item_hash) return `the texts of trip ${row.trip_id} were others then.`;
  return null;
}

function differing(rows) {
  return rows.filter((row) => {
    const own = given(row.trip_id, row.criterion);
    return own.score !== null && (own.score !== row.score || own.comment !== row.comment);
  });
}

function takeIn(rows) {
  for (const {trip_id, criterion, score, comment, seconds} of rows) {
    kept.scores[trip_id] = {...kept.scores[trip_id], [criterion]: {score, comment, seconds}};
    kept.seconds[trip_id] = Math.max(kept.seconds[trip_id] || 0, seconds);
  }
  keep();
}

// ---- time -----------------------------------------------------------------------------------------

// Seconds count while the page is in view and a hand has moved within the last minute.
const IDLE_S = 60;
let lastMove = performance.now(), lastTick = performance.now();

function tick(now) {
  const passed = Math.min(2, (now - lastTick) / 1000);
  lastTick = now;
  if (rater && kept.at.trip && !document.hidden && now - lastMove < 1000 * IDLE_S && !isDone(kept.at.trip)) {
    kept.seconds[kept.at.trip] = (kept.seconds[kept.at.trip] || 0) + passed;
  }
}

for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "scroll"]) {
  addEventListener(kind, () => { lastMove = performance.now(); }, {capture: true, passive: true});
}
setInterval(() => tick(performance.now()), 1000);
