const { report, scenario, movement, walls, comparison } = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("map");
const time = document.getElementById("time");
const play = document.getElementById("play");
const frames = movement.frames;
const TRAIL = 12; // frames behind a person

// ---- the movement ----------------------------------------------------------------------------

// What the picture must hold: everybody at any time, and the walls, in metres.
function extent() {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  const grow = (x, y) => {
    box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x); box[3] = Math.max(box[3], y);
  };
  for (const frame of frames) {
    for (let i = 0; i < frame.length; i += 2) if (frame[i] !== null) grow(frame[i] / 100, frame[i + 1] / 100);
  }
  for (const [x0, x1, y0, y1] of walls) { grow(x0, y0); grow(x1, y1); }
  return box[0] <= box[2] ? box : [0, 0, 1, 1];
}

const box = extent();
let scale = 1;

function toScreen(x, y) {
  const middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  return [canvas.width / 2 + (x - middle[0]) * scale, canvas.height / 2 - (y - middle[1]) * scale];
}

function fit() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const span = [Math.max(box[2] - box[0], 1), Math.max(box[3] - box[1], 1)];
  scale = 0.92 * Math.min(canvas.width / span[0], canvas.height / span[1]);
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function drawWalls(pen) {
  pen.strokeStyle = colour("--wall");
  pen.lineWidth = 1.5 * (window.devicePixelRatio || 1);
  pen.beginPath();
  for (const [x0, x1, y0, y1] of walls) { pen.moveTo(...toScreen(x0, y0)); pen.lineTo(...toScreen(x1, y1)); }
  pen.stroke();
}

function drawTrails(pen, now) {
  pen.strokeStyle = colour("--trail");
  pen.lineWidth = 1.5 * (window.devicePixelRatio || 1);
  pen.beginPath();
  for (let agent = 0; agent < movement.radii.length; agent++) {
    let open = false;
    for (let t = Math.max(0, now - TRAIL); t <= now; t++) {
      const x = frames[t][2 * agent];
      if (x === null) { open = false; continue; }
      const place = toScreen(x / 100, frames[t][2 * agent + 1] / 100);
      if (open) pen.lineTo(...place); else pen.moveTo(...place);
      open = true;
    }
  }
  pen.stroke();
}

function drawPeople(pen, now) {
  pen.fillStyle = colour("--person");
  const least = 2.2 * (window.devicePixelRatio || 1);
  for (let agent = 0; agent < movement.radii.length; agent++) {
    const x = frames[now][2 * agent];
    if (x === null) continue;
    pen.beginPath();
    pen.arc(...toScreen(x / 100, frames[now][2 * agent + 1] / 100), Math.max(least, movement.radii[agent] * scale), 0, 7);
    pen.fill();
  }
}

// A round number of metres that is at most a quarter of the picture's width.
function barMetres() {
  const most = canvas.width / scale / 4;
  const power = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].find((step) => step * power <= most) * power;
}

function drawBar(pen) {
  const ratio = window.devicePixelRatio || 1;
  const [left, bottom, tick] = [14 * ratio, canvas.height - 14 * ratio, 5 * ratio];
  const right = left + barMetres() * scale;
  pen.strokeStyle = pen.fillStyle = colour("--ink");
  pen.lineWidth = 2 * ratio;
  pen.beginPath();
  pen.moveTo(left, bottom - tick); pen.lineTo(left, bottom);
  pen.lineTo(right, bottom); pen.lineTo(right, bottom - tick);
  pen.stroke();
  pen.font = `${13 * ratio}px system-ui, sans-serif`;
  pen.fillText(`${barMetres()} m`, left, bottom - tick - 4 * ratio);
}

function draw() {
  const now = Number(time.value);
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  drawWalls(pen);
  if (frames.length) { drawTrails(pen, now); drawPeople(pen, now); }
  drawBar(pen);
  const unit = movement.dt_known ? " s" : " s?";
  document.getElementById("clock").textContent = `${(now * movement.dt_s).toFixed(1)}${unit}`;
}

let last = null;
let due = 0;

function tick(moment) {
  if (play.getAttribute("aria-pressed") !== "true") { last = null; return; }
  if (last !== null) due += (moment - last) / 1000 * Number(document.getElementById("pace").value);
  last = moment;
  const steps = Math.floor(due / movement.dt_s);
  if (steps) {
    due -= steps * movement.dt_s;
    time.value = (Number(time.value) + steps) % frames.length;
    draw();
  }
  requestAnimationFrame(tick);
}

function setPlaying(playing) {
  play.setAttribute("aria-pressed", String(playing));
  play.textContent = playing ? "Pause" : "Play";
  if (playing) requestAnimationFrame(tick);
}

// ---- the words -------------------------------------------------------------------------------

function add(parent, tag, text, kind) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  parent.append(node);
  return node;
}

function number(value, digits = 3) {
  if (value === null || value === undefined) return "-";
  return typeof value === "number" && !Number.isInteger(value) ? value.toFixed(digits) : String(value);
}

function range(check) {
  if (check.low === null && check.high === null) return JSON.stringify(check.expected_result);
  if (check.low === null) return `at most ${number(check.high)}`;
  if (check.high === null) return `at least ${number(check.low)}`;
  return `${number(check.low)} to ${number(check.high)}`;
}

function addCheck(parent, check) {
  const kind = check.passed === null ? "uncounted" : check.passed ? "passed" : "failed";
  const node = add(parent, "div", undefined, `check ${kind}`);
  add(node, "code", check.function);
  add(node, "span", ` ${number(check.value, 4)}, wanted ${range(check)}`);
  if (check.margin !== null) add(node, "span", `, margin ${number(check.margin, 4)}`, "soft");
  if (check.reason) add(node, "div", check.reason, "reason");
}

function addQuestions(parent, wanted) {
  for (const question of scenario.questions) {
    const checks = question.checks.filter(wanted);
    if (!checks.length) continue;
    add(parent, "h3", `${question.id} ${question.question}`);
    for (const check of checks) addCheck(parent, check);
  }
}

function addTable(parent, heads, rows) {
  const table = add(add(parent, "div", undefined, "wide"), "table");
  const head = add(add(table, "thead"), "tr");
  for (const name of heads) add(head, "th", name);
  const body = add(table, "tbody");
  for (const row of rows) {
    const line = add(body, "tr");
    for (const cell of row) add(line, "td", number(cell));
  }
}

// What no measure sees of a movement, in words.
const UNSEEN = {
  people: "people, of those asked for",
  present: "present, of all frames",
  stays: "stays of a person",
  jumps: "steps over 10 m/s",
  stacked: "at another's very place",
  in_walls: "in or through walls",
  copies: "copies of another scenario",
};

function fillPanel() {
  const panel = document.getElementById("panel");
  const all = scenario.questions.flatMap((question) => question.checks);
  const failed = all.filter((check) => check.passed !== true);
  add(panel, "h1", `${scenario.id}: ${number(scenario.score)}`);
  add(panel, "p", `${report.generator}, ${report.mode} mode, ${scenario.category}, ${number(scenario.agents)} agents`, "soft");
  add(panel, "p", scenario.description);
  if (scenario.fault) add(panel, "p", scenario.fault, "reason");
  for (const warning of scenario.warnings) add(panel, "p", `Warning: ${warning}`, "warning");
  add(panel, "h2", `Failed or not counted: ${failed.length} of ${all.length} checks`).id = "failed";
  addQuestions(panel, (check) => check.passed !== true);
  const details = add(panel, "details");
  add(details, "summary", `Passed: ${all.length - failed.length}`);
  addQuestions(details, (check) => check.passed === true);
  add(panel, "h2", "The whole benchmark");
  const { scored, scenarios } = report.coverage;
  const { low, high } = report.score;
  const interval = low === null ? "" : ` (95 %: ${number(low)} to ${number(high)})`;
  add(panel, "p", `${scored} of ${scenarios} scenarios scored; mean ${number(report.score.mean)}${interval}, with zeros for what is missing ${number(report.zero_filled.mean)}, of what is covered ${number(report.covered.mean)}.`);
  const flagged = Object.entries(report.counts.traps).map(([code, count]) => `${code} ${count}`);
  if (flagged.length) add(panel, "p", `Warnings, by scenarios: ${flagged.join(", ")}.`, "warning");
  addTable(panel, ["axis", "checks", "passed", "mean"], report.by_axis.map((row) => [row.name, row.checks, row.passed, row.score.mean]));
  addTable(panel, ["in no score", "here", "all"], Object.entries(UNSEEN).map(([name, words]) => [words, name === "copies" ? scenario.copy_of : scenario.plausible?.[name], report.plausibility[name]]));
  addTable(panel, ["tolerance", "mean", "checks passed"], report.tolerance.map((row) => [`x ${row.factor}`, row.mean, row.checks_passed]));
  if (comparison.length) {
    add(panel, "h2", "Generators");
    const heads = Object.keys(comparison[0]).filter((key) => key !== "mode");
    addTable(panel, heads, comparison.map((row) => heads.map((key) => row[key])));
  }
}

// What is drawn, by the colour it is drawn in.
function fillLegend() {
  const legend = document.getElementById("legend");
  const drawn = [["--person", "person"], ["--trail", `path of the last ${TRAIL} frames`]];
  if (walls.length) drawn.push(["--wall", "wall"]);
  for (const [name, words] of drawn) {
    add(legend, "i").style.background = `var(${name})`;
    add(legend, "span", words);
  }
}

time.max = Math.max(0, frames.length - 1);
time.addEventListener("input", draw);
play.addEventListener("click", () => setPlaying(play.getAttribute("aria-pressed") !== "true"));
window.addEventListener("resize", () => { fit(); draw(); });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
const drawnOf = movement.every > 1 ? `Every ${movement.every}th frame is drawn. ` : "";
const second = movement.dt_known ? "" : "Seconds between frames are not known; 0.4 s are supposed.";
document.getElementById("note").textContent = drawnOf + second;
fillPanel();
fillLegend();
fit();
draw();
setPlaying(frames.length > 1 && !window.matchMedia("(prefers-reduced-motion: reduce)").matches);
