// The map: layers in metres (x east, y north), a view that zooms and pans, and what is drawn anew
// for each view because it keeps its size on the screen (names, arrows, cell numbers).
let trip = null;  // what is drawn: rows of pipeline/show/drawing.py, points, places
const svg = document.getElementById("map");
// `fitted`: the box that the view was fitted to, until a hand moves or zooms it.
const view = {scale: 1, x: 0, y: 0, width: 1, height: 1, sized: false, fitted: null};  // screen = (x + scale*east, y - scale*north)
const drawnLast = [];  // what a page adds to each view: functions of the places that are taken
const CLOSEST = 12, WIDEST = 0.002;  // pixels per metre
const ROADS = [  // kinds of streets from the least to the greatest: metres wide, least pixels
  {kind: "service", wide: 3.5, least: 0.9}, {kind: "minor", wide: 6, least: 1.4},
  {kind: "middle", wide: 8.5, least: 2}, {kind: "main", wide: 11, least: 2.8},
];

function draw(name, attributes, parent) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.append(node);
  return node;
}

function layer(name, moves) {
  return draw("g", {"data-layer": name, class: moves ? "world" : "screen"}, svg);
}

const layers = {
  streets: layer("streets", true), cells: layer("cells", true), places: layer("places", true),
  path: layer("path", true), names: layer("streets", false), arrows: layer("path", false),
  points: layer("points", true), marks: layer("cells", false),
};

function lineOf(flat) {
  let d = "M" + flat[0] + " " + flat[1];
  for (let i = 2; i < flat.length; i += 2) d += "L" + flat[i] + " " + flat[i + 1];
  return d;
}

function drawStreets() {
  for (const road of ROADS) {
    const d = trip.streets.filter((street) => street.kind === road.kind).map((s) => lineOf(s.line)).join("");
    road.casing = draw("path", {class: "casing", d}, layers.streets);
  }
  for (const road of ROADS) {
    road.fill = draw("path", {class: "road " + road.kind, d: road.casing.getAttribute("d")}, layers.streets);
  }
  layers.underHand = draw("path", {class: "under-hand"}, layers.streets);
}

function drawCells() {
  for (const cell of trip.cells) {
    const corners = [];
    for (let i = 0; i < cell.ring.length; i += 2) corners.push(cell.ring[i] + "," + cell.ring[i + 1]);
    cell.node = draw("polygon", {class: "cell role-" + cell.role, points: corners.join(" "), "data-cell": cell.cell}, layers.cells);
  }
}

function drawPath() {
  for (const leg of trip.legs) draw("path", {class: "leg-casing", d: lineOf(leg.line)}, layers.path);
  for (const leg of trip.legs) {
    leg.node = draw("path", {class: "leg", d: lineOf(leg.line)}, layers.path);
    if (leg.key) leg.node.dataset.key = leg.key;  // a drive without phases has none to choose
  }
}

// A line of no length with round ends is a dot that keeps its size at every zoom.
function drawDots(parent, dots, name) {
  const d = dots.map((dot) => "M" + dot.x + " " + dot.y + "h0").join("");
  draw("path", {class: "dots rim " + name, d}, parent);
  draw("path", {class: "dots " + name, d}, parent);
}

function drawPoints() {
  trip.decisions.forEach((decision, i) => {
    const dots = trip.points.filter((point) => point.decision === i);
    drawDots(layers.points, dots, decision.kept ? "kept" : "dropped dot-" + decision.colour);
  });
  drawDots(layers.places, trip.places, "place");
}

// Draw a trip in the place of the one before, and show the whole of it.
function drawTrip(next) {
  trip = next;
  picked = null;
  svg.querySelectorAll("[data-layer]").forEach((group) => group.replaceChildren());
  drawStreets();
  drawCells();
  drawPath();
  drawPoints();
  view.fitted = null;
  if (view.sized) fitWhole();
}

function toScreen(x, y) {
  return [view.x + view.scale * x, view.y - view.scale * y];
}

function toWorld(px, py) {
  return [(px - view.x) / view.scale, (view.y - py) / view.scale];
}

function boundsOf(lines) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const flat of lines) {
    for (let i = 0; i < flat.length; i += 2) {
      box[0] = Math.min(box[0], flat[i]); box[1] = Math.min(box[1], flat[i + 1]);
      box[2] = Math.max(box[2], flat[i]); box[3] = Math.max(box[3], flat[i + 1]);
    }
  }
  return box;
}

function clampScale(scale) {
  return Math.min(CLOSEST, Math.max(WIDEST, scale));
}

function fit(box) {
  if (box[0] > box[2]) return;
  const rim = Math.min(56, view.width / 8, view.height / 8);
  const wide = Math.max(box[2] - box[0], 40), high = Math.max(box[3] - box[1], 40);
  view.scale = clampScale(Math.min((view.width - 2 * rim) / wide, (view.height - 2 * rim) / high));
  view.x = view.width / 2 - view.scale * (box[0] + box[2]) / 2;
  view.y = view.height / 2 + view.scale * (box[1] + box[3]) / 2;
  view.fitted = box;
  refresh();
}

function fitWhole() {
  const lines = [...trip.legs.map((leg) => leg.line), ...trip.cells.map((cell) => cell.ring)];
  if (!lines.length) lines.push(...trip.points.filter((p) => p.anchors).map((p) => [p.x, p.y]));
  fit(boundsOf(lines));
}

function zoomAt(factor, px, py) {
  const scale = clampScale(view.scale * factor);
  view.x = px - (px - view.x) * scale / view.scale;
  view.y = py - (py - view.y) * scale / view.scale;
  view.scale = scale;
  view.fitted = null;
  refresh();
}

function zoomBy(factor) {
  zoomAt(factor, view.width / 2, view.height / 2);
}

function moveBy(dx, dy) {
  view.x += dx;
  view.y += dy;
  view.fitted = null;
  refresh();
}

let waiting = false;
function refresh() {
  if (waiting || !trip) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; redraw(); });
}

function redraw() {
  const matrix = `matrix(${view.scale} 0 0 ${-view.scale} ${view.x} ${view.y})`;
  svg.querySelectorAll("g.world").forEach((group) => group.setAttribute("transform", matrix));
  for (const road of ROADS) {
    const width = Math.min(26, Math.max(road.least, road.wide * view.scale));
    road.fill.style.strokeWidth = width + "px";
    road.casing.style.strokeWidth = width + 2 + "px";
  }
  drawArrows();
  const taken = drawMarks();
  drawNames(taken);
  drawnLast.forEach((add) => add(taken));
  drawScale();
}

function drawScale() {
  const room = Math.min(130, view.width / 3) / view.scale;
  const power = 10 ** Math.floor(Math.log10(room));
  const length = [5, 2, 1].map((n) => n * power).find((n) => n <= room) || power;
  const bar = document.getElementById("scale");
  bar.style.width = length * view.scale + "px";
  bar.firstElementChild.textContent = length >= 1000 ? length / 1000 + " km" : length + " m";
}

function startMap() {
  new ResizeObserver(() => {
    const frame = svg.getBoundingClientRect();
    view.x += (frame.width - view.width) / 2;
    view.y += (frame.height - view.height) / 2;
    view.width = frame.width;
    view.height = frame.height;
    if (!view.sized) { view.sized = true; if (trip) fitWhole(); }
    else if (view.fitted) fit(view.fitted);  // what was shown whole stays whole
    else refresh();
  }).observe(svg);
}
