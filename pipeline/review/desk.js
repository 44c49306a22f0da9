// The desk: who rates, which trip is open, how far they are; keys; files out and in.
const byId = (id) => document.getElementById(id);
let order = [];  // trip ids of the rater, in the order they are shown

function say(words) {
  byId("said").textContent = words;
}

function countDone() {
  return order.filter(isDone).length;
}

function everyDone() {
  return countDone() === order.length;
}

function isLast() {
  return order.indexOf(kept.at.trip) === order.length - 1;
}

// ---- the head of the page ---------------------------------------------------------------------------

function showKept() {
  const lost = unsaved > 0;
  byId("warning").hidden = !lost;
  byId("warning").textContent = "This browser keeps nothing for this page. Export before you close it, or your scores are lost.";
  const out = kept.exported ? (kept.changed ? `${kept.changed} changes since the last export` : "all exported") : "not exported yet";
  byId("kept").textContent = lost ? "not kept" : `Kept here · ${out}`;
}

function showProgress() {
  const done = countDone();
  byId("done").max = order.length;
  byId("done").value = done;
  byId("done-words").textContent = `${done} of ${order.length} trips`;
}

function stateOf(trip_id) {
  const scored = scoresOf(trip_id);
  return scored === CODES.length ? "full" : scored ? "begun" : "open";
}

function showRail() {
  const words = {full: "rated", begun: "begun", open: "not rated"};
  const list = byId("rail").firstElementChild;
  list.replaceChildren(...order.map((trip_id, i) => {
    const state = stateOf(trip_id), here = trip_id === kept.at.trip;
    const button = make("button", {type: "button", class: state, tabindex: here ? "0" : "-1", "aria-current": here ? "true" : false,
      title: `Trip ${trip_id}, ${words[state]}`, "aria-label": `Trip ${i + 1}, ${words[state]}`}, String(i + 1));
    button.addEventListener("click", () => openTrip(trip_id));
    return make("li", {}, button);
  }));
  const here = list.querySelector("[aria-current]");
  if (here) here.scrollIntoView({block: "nearest", inline: "nearest"});
}

byId("rail").addEventListener("keydown", (event) => {
  const by = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  const buttons = [...byId("rail").querySelectorAll("button")];
  const to = buttons[buttons.indexOf(document.activeElement) + by];
  if (to) to.focus();
});

// ---- one trip ---------------------------------------------------------------------------------------

function showItemParts(options) {
  showTasks();
  showScores(options);
  showWholeItem();
  showProgress();
  showRail();
}

function itemHead(item) {
  const number = order.indexOf(item.trip_id) + 1;
  const move = (words, label, by) => {
    const button = make("button", {type: "button", "aria-label": label, title: label, disabled: order[number - 1 + by] ? false : ""}, words);
    button.addEventListener("click", () => openTrip(order[number - 1 + by]));
    return button;
  };
  return [
    make("div", {class: "steps"}, move("\u2039", "Previous trip (p)", -1), make("h2", {}, `Trip ${number}`), move("\u203a", "Next trip (n)", 1)),
    make("p", {class: "facts"}, item.facts.join(" · ")),
    make("p", {class: "persona"}, make("b", {}, item.persona.name), ` ${item.persona.voice}`),
  ];
}

function openTrip(trip_id) {
  const item = itemOf.get(trip_id);
  kept.at = {trip: trip_id, criterion: CODES.find((code) => given(trip_id, code).score === null) || CODES[0]};
  keepDesk();
  drawItem(item);
  byId("item").replaceChildren(...itemHead(item));
  showRecord(item);
  showTexts(taskOf(kept.at.criterion), item);
  showItemParts({focus: true});
  toTheTexts();
}

function openBy(by) {
  const to = order[order.indexOf(kept.at.trip) + by];
  if (to) openTrip(to);
}

// After a full trip comes the next one in order; after the last, the first that is still open.
function goOn() {
  if (!isDone(kept.at.trip)) return stepCriterion(1);
  const open = order.find((trip_id) => !isDone(trip_id));
  const to = isLast() ? open : order[order.indexOf(kept.at.trip) + 1];
  if (to) openTrip(to);
}

// ---- keys -------------------------------------------------------------------------------------------

const KEYS = {
  ArrowDown: () => stepCriterion(1), ArrowUp: () => stepCriterion(-1), n: () => openBy(1), p: () => openBy(-1),
  ArrowRight: () => openBy(1), ArrowLeft: () => openBy(-1), c: () => byId("comment").focus(), m: () => svg.focus(),
  "?": () => showHelp(), Escape: () => showEvidence(null),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, dialog")) return;
  if (event.target === svg && ARROWS[event.key]) return;
  if (["1", "2", "3", "4", "5"].includes(event.key)) give(Number(event.key));
  else if (event.key === "Enter" && !event.target.closest("button, [role=button], a, input")) goOn();
  else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
});

// ---- dialogs ----------------------------------------------------------------------------------------

function note(title, ...parts) {
  const close = make("button", {type: "button", class: "main"}, "Close");
  close.addEventListener("click", () => byId("note").close());
  byId("note").replaceChildren(make("h2", {id: "note-title"}, title), ...parts, make("div", {class: "row"}, close));
  byId("note").showModal();
}

function showHelp() {
  const keys = [["1 to 5", "score the open criterion"], ["\u2191 \u2193 Enter", "criterion before, after"], ["\u2190 \u2192, p n", "trip before, after"],
    ["c", "comment; Enter or Esc leaves it"], ["+ \u2212 0", "map closer, farther, whole trip"], ["m", "to the map; arrows move it"], ["Esc", "clear the map's selection"]];
  note("Keys and colours",
    make("dl", {}, ...keys.flatMap(([key, words]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)])),
    legend(LEGEND.map(([what, verdict]) => ({what, verdict}))),
    make("p", {}, "Names and claims are marked by a program, which can be wrong. Click one to see on the map what it rests on. The record below the map is all that counts as true; in it, GNN names the kind of area."),
    make("p", {}, "Once all ten are scored, other scores of the trip can be shown. Your first scores are what counts; a change after that is kept beside them."),
    make("p", {}, "Every step is kept in this browser. Export writes a file to send back; Load brings such a file in again, for instance on another machine."));
}

function askWho() {
  const people = page.raters.map((one) => {
    const done = Object.values(recallRater(one.rater).kept.trips).filter(isScored).length;
    const button = make("button", {type: "button", class: "person"}, make("b", {}, one.rater), make("span", {}, `${done} of ${one.items.length} trips rated here`));
    button.addEventListener("click", () => { byId("who").close(); begin(one.rater); });
    return button;
  });
  byId("who").replaceChildren(make("h2", {id: "who-title"}, `Review of ${page.name}: who are you?`),
    make("p", {}, "Each rater has an order of their own. Your scores stay in this browser until you export them."), make("div", {class: "people"}, ...people));
  byId("who").showModal();
}

async function bringIn(file) {
  let rows;
  try { rows = rowsIn(await file.text()); } catch (fault) { return note("Nothing was loaded", make("p", {}, `${file.name}: ${fault.message}`)); }
  const differ = new Set(differing(rows));
  const finish = (taken) => { takeIn(taken); openTrip(kept.at.trip); };
  if (!differ.size) {
    finish(rows);
    return note("Loaded", make("p", {}, `${rows.length} scores from ${file.name}.`));
  }
  const choice = (words, taken) => {
    const button = make("button", {type: "button"}, words);
    button.addEventListener("click", () => { byId("note").close(); finish(taken); });
    return button;
  };
  return note("Some scores differ", make("p", {}, `${differ.size} of the ${rows.length} scores in ${file.name} differ from those given here.`),
    make("div", {class: "row"}, choice("Keep those given here", rows.filter((row) => !differ.has(row))), choice("Take those of the file", rows)));
}

// ---- beginning --------------------------------------------------------------------------------------

function begin(name) {
  rater = name;
  remember("", rater);
  const recalled = recallRater(rater);
  kept = recalled.kept;
  order = page.raters.find((one) => one.rater === rater).items.map((i) => page.items[i].trip_id);
  byId("rater").textContent = rater;
  const open = order.includes(kept.at.trip) ? kept.at.trip : order.find((trip_id) => !isDone(trip_id)) || order[0];
  if (open) openTrip(open);
  if (recalled.unreadable.length) sayUnreadable(recalled.unreadable);
}

// What could not be read starts afresh, here and in the browser's memory.
function sayUnreadable(unreadable) {
  const trips = order.filter((trip_id) => unreadable.includes(trip_id));
  trips.forEach(keepTrip);
  const parts = trips.map((trip_id) => `Trip ${order.indexOf(trip_id) + 1}: ${scoresOf(trip_id)} of ${CODES.length} scores are there.`);
  if (unreadable.includes(null)) parts.push("Which trip was open, and when you last exported, is not known any more.");
  if (!parts.length) return;
  note("Some of what this browser kept cannot be read", make("p", {}, "What can be read is there, the rest starts afresh. All else is as you left it. A file you exported before can be loaded."),
    ...parts.map((words) => make("p", {}, words)));
}

byId("title").append(`Review of ${page.name}`);
if (page.items.some((item) => item.simulated)) {
  byId("title").append(make("span", {class: "badge simulated", title: "The GPS traces were simulated on the real road network"}, "simulated traces"));
}
byId("credit").textContent = page.credit;
byId("rater").addEventListener("click", askWho);
byId("help").addEventListener("click", showHelp);
byId("export").addEventListener("click", () => {
  if (!rowsOf().length) return note("Nothing to export", make("p", {}, "No criterion is scored yet."));
  exportFile();
  const stray = strayComments();
  if (stray) note("Exported", make("p", {}, `${stray} comments have no score yet; only scored criteria are in the file.`));
});
byId("bring").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", () => { if (byId("file").files[0]) bringIn(byId("file").files[0]); byId("file").value = ""; });
byId("who").addEventListener("cancel", (event) => { if (!rater) event.preventDefault(); });
byId("layers").append(...[["cells", "Cells"], ["places", "Places"]].map(layerBox));
// The same page in another window: what is scored there shows here.
addEventListener("storage", (event) => {
  const trip_id = rater && order.find((one) => event.key === keyOf(`${rater} ${one}`));
  if (!trip_id || !event.newValue) return;
  let work;
  try { work = soundWork(JSON.parse(event.newValue)); } catch { return; }
  if (!work.sound) return;
  kept.trips[trip_id] = work.value;
  showItemParts();
});
addEventListener("beforeunload", (event) => { if (unsaved && kept.changed) event.preventDefault(); });
document.addEventListener("visibilitychange", () => {
  tick(performance.now());
  if (rater && kept.trips[kept.at.trip]) keepTrip(kept.at.trip);
});

function start() {
  const last = recall("");
  if (page.raters.length === 1) begin(page.raters[0].rater);
  else if (page.raters.some((one) => one.rater === last)) begin(last);
  else askWho();
}

startMap();
// A page from disk that asks Chromium for its memory before its first frame may get one that is
// empty and lost when it closes.
requestAnimationFrame(() => requestAnimationFrame(start));
