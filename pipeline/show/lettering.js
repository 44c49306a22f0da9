// What keeps its size on the screen: street names along their streets, arrows along the path,
// numbers of the cells, and the two ends of each drive.
const LETTER = 6.3, NAME_GAP = 16;  // pixels: mean width of a letter; least distance of two names

function onScreen(flat) {
  const points = [];
  for (let i = 0; i < flat.length; i += 2) points.push(toScreen(flat[i], flat[i + 1]));
  return points;
}

function inView([x, y]) {
  return x > 0 && y > 0 && x < view.width && y < view.height;
}

function passesBy([ax, ay], [bx, by]) {
  return Math.max(ax, bx) < 0 || Math.max(ay, by) < 0 || Math.min(ax, bx) > view.width || Math.min(ay, by) > view.height;
}

// Return points every `step` pixels along a line, each [x, y, direction in radians]; pieces of the
// line that lie beyond the view are passed over.
function stepsAlong(points, step) {
  const steps = [];
  let ahead = step / 2;
  for (let i = 1; i < points.length; i++) {
    const [ax, ay] = points[i - 1], [bx, by] = points[i];
    const length = Math.hypot(bx - ax, by - ay);
    if (passesBy(points[i - 1], points[i])) {
      ahead = (((ahead - length) % step) + step) % step;
      continue;
    }
    const angle = Math.atan2(by - ay, bx - ax);
    for (; ahead <= length; ahead += step) {
      const share = length ? ahead / length : 0;
      steps.push([ax + share * (bx - ax), ay + share * (by - ay), angle]);
    }
    ahead -= length;
  }
  return steps;
}

function turned(a, b) {
  const turn = Math.abs(a - b) % (2 * Math.PI);
  return Math.min(turn, 2 * Math.PI - turn);
}

function parted(part) {
  return part.some((step, i) => i > 0 && Math.hypot(step[0] - part[i - 1][0], step[1] - part[i - 1][1]) > 12);
}

// Find room for a name: a stretch of the street in view, long enough, nearly straight, and free.
function roomFor(steps, count, taken) {
  const middle = Math.max(0, Math.floor((steps.length - count) / 2));
  const starts = Array.from({length: Math.max(0, steps.length - count + 1)}, (_, i) => i);
  starts.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  for (const start of starts) {
    const part = steps.slice(start, start + count);
    if (part.length < 2 || !part.every(inView) || parted(part)) continue;
    if (part.some((step) => turned(step[2], part[0][2]) > 0.6)) continue;
    if (part.some((step) => taken.some((t) => Math.hypot(t[0] - step[0], t[1] - step[1]) < NAME_GAP))) continue;
    return part;
  }
  return null;
}

function drawNames(taken) {
  layers.names.replaceChildren();
  const seen = new Map();
  for (const street of trip.named) {
    const width = street.name.length * LETTER + 12;
    if (street.kind === "service" && view.scale < 0.8) continue;
    if (street.length * view.scale < width) continue;
    const steps = stepsAlong(onScreen(street.line), 8);
    const part = roomFor(steps, Math.ceil(width / 8) + 1, taken);
    if (!part) continue;
    const before = seen.get(street.name) || [];
    if (before.some((at) => Math.hypot(at[0] - part[0][0], at[1] - part[0][1]) < 320)) continue;
    seen.set(street.name, [...before, part[0]]);
    taken.push(...part);
    writeAlong(part, street);
  }
}

// A driven street carries the path: its name stands beside the line, the others in the street.
function writeAlong(part, street) {
  const upright = part[0][0] <= part[part.length - 1][0] ? part : [...part].reverse();
  const id = "name-" + layers.names.childElementCount;
  draw("path", {id, d: "M" + upright.map((step) => step[0] + " " + step[1]).join("L")}, layers.names);
  const dy = street.driven ? "-0.75em" : "0.35em";
  const node = draw("text", {class: "street-name", dy, "text-anchor": "middle"}, layers.names);
  draw("textPath", {href: "#" + id, startOffset: "50%"}, node).textContent = street.name;
}

function drawArrows() {
  layers.arrows.replaceChildren();
  for (const leg of trip.legs) {
    for (const [x, y, angle] of stepsAlong(onScreen(leg.line), 46)) {
      if (!inView([x, y])) continue;
      const turn = `translate(${x} ${y}) rotate(${angle * 180 / Math.PI})`;
      draw("path", {class: "arrow", d: "M-2.8 -3.8L2.2 0L-2.8 3.8", transform: turn}, layers.arrows);
    }
  }
  for (const end of trip.ends) {
    const [cx, cy] = toScreen(end.x, end.y);
    draw("circle", {class: "end role-" + end.role, cx, cy, r: 6}, layers.arrows);
  }
}

// The number stands near the top of its cell, clear of the path through the middle. Returns the
// places taken, which street names must keep clear of.
function drawMarks() {
  layers.marks.replaceChildren();
  const taken = [];
  for (const cell of trip.cells) {
    const corners = onScreen(cell.ring);
    const top = Math.min(...corners.map((corner) => corner[1]));
    const x = corners.slice(1).reduce((sum, corner) => sum + corner[0], 0) / (corners.length - 1);
    const room = 2 * view.scale * cell.radius;
    const text = cell.labels.find((label) => room > 8 * Math.max(2, label.length) + 22);
    if (!text) continue;
    const width = text.length * 7 + 12, y = top + 0.16 * room + 4;
    const mark = draw("g", {class: "mark role-" + cell.role, transform: `translate(${x} ${y})`}, layers.marks);
    mark.classList.toggle("picked", cell.keys.includes(picked));
    draw("rect", {x: -width / 2, y: -9, width, height: 18, rx: 6}, mark);
    draw("text", {y: 4}, mark).textContent = text;
    if (shown("marks")) for (let dx = -width / 2; dx <= width / 2; dx += 8) taken.push([x + dx, y]);
  }
  return taken;
}
