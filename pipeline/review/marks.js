// What a review adds to the map: phases in the colours of the record, names of the trip's places,
// and where the name a rater clicked on lies.
layers.found = draw("g", {"data-layer": "found", class: "world"}, null);
layers.path.before(layers.found);
layers.labels = layer("labels", false);
let found = null;  // the evidence that is looked at
let beside = [];  // places of the record

function drawItem(item) {
  found = null;
  beside = item.places;
  drawTrip(tripOf(item));
  const shades = Object.fromEntries(item.phases.map((phase) => [phase.key, shade(phase.p, item.phases.length)]));
  trip.legs.forEach((leg) => leg.node.style.setProperty("--leg", shades[leg.key]));
  drawDots(layers.places, beside, "beside");
}

function showEvidence(one) {
  if (found) found.nodes.forEach((node) => node.classList.remove("looked-at"));
  found = one;
  layers.found.replaceChildren();
  const words = document.getElementById("evidence");
  words.replaceChildren(one ? one.words : "");
  words.className = one ? one.verdict : "";
  if (!one) return refresh();
  one.nodes.forEach((node) => node.classList.add("looked-at"));
  const roads = one.road ? trip.streets.filter((street) => street.name === one.road) : [];
  if (roads.length) draw("path", {class: "found-road", d: roads.map((street) => lineOf(street.line)).join("")}, layers.found);
  pick(one.phase === null ? null : "0:" + one.phase);
  goTo(one, roads);
}

// Move only as far as needed: what is looked at is in view, and so is a bit of the trip.
function goTo(one, roads) {
  const key = "0:" + one.phase;
  const lines = trip.legs.filter((leg) => leg.key === key).map((leg) => leg.line);
  if (one.x !== undefined) lines.push([one.x, one.y]);
  if (!lines.length) lines.push(...roads.map((street) => street.line));
  if (!lines.length) return;
  if (one.verdict === "off_route") lines.push(...trip.legs.map((leg) => leg.line));
  const box = boundsOf(lines);
  const wide = 3 * (box[2] - box[0]) * view.scale, high = 3 * (box[3] - box[1]) * view.scale;
  const seen = inView(toScreen(box[0], box[3])) && inView(toScreen(box[2], box[1]));
  if (!seen || (view.scale < 0.5 && wide < view.width && high < view.height)) {
    const rim = one.verdict === "off_route" ? 60 : 220;
    fit([box[0] - rim, box[1] - rim, box[2] + rim, box[3] + rim]);
  }
}

// ---- drawn anew for each view -----------------------------------------------------------------------

const WORD = 6.6;  // pixels: mean width of a letter of a label

function stepsOf([x, y], width) {
  const steps = [];
  for (let dx = -width / 2; dx <= width / 2; dx += 8) steps.push([x + dx, y]);
  return steps;
}

// Return how far a label at a place would be from the next thing, in pixels; 0 where it leaves the view.
function roomAt(steps, taken) {
  if (!steps.every(inView)) return 0;
  return Math.min(Infinity, ...steps.flatMap((a) => taken.map((b) => Math.hypot(a[0] - b[0], a[1] - b[1]))));
}

function label(text, [x, y], name) {
  const node = draw("text", {class: "label " + name, x, y, "text-anchor": "middle"}, layers.labels);
  node.textContent = text;
}

function pill(text, [x, y], taken) {
  const width = text.length * 7 + 14;
  const spots = [[x, y - 22], [x, y + 22], [x + width / 2 + 18, y], [x - width / 2 - 18, y]];
  const rooms = spots.map((spot) => Math.min(NAME_GAP, roomAt(stepsOf(spot, width), taken)));
  const [px, py] = spots[rooms.indexOf(Math.max(...rooms))];
  taken.push(...stepsOf([px, py], width));
  const mark = draw("g", {class: "pill", transform: `translate(${px} ${py})`}, layers.labels);
  draw("rect", {x: -width / 2, y: -10, width, height: 20, rx: 10}, mark);
  draw("text", {y: 4.5, "text-anchor": "middle"}, mark).textContent = text;
}

function drawFound() {
  if (!found || found.x === undefined) return;
  const [x, y] = toScreen(found.x, found.y);
  const pin = draw("g", {class: "pin " + found.verdict, transform: `translate(${x} ${y})`}, layers.labels);
  draw("path", {d: "M0 0C-3 -9 -10 -12 -10 -20A10 10 0 0 1 10 -20C10 -12 3 -9 0 0Z"}, pin);
  draw("circle", {cy: -20, r: 3.6}, pin);
}

drawnLast.push((taken) => {
  layers.labels.replaceChildren();
  trip.ends.forEach((end) => taken.push(toScreen(end.x, end.y)));
  trip.ends.forEach((end) => pill(end.role === "O" ? "start" : "end", toScreen(end.x, end.y), taken));
  layers.found.querySelectorAll(".found-road").forEach((road) => { road.style.strokeWidth = Math.max(14, Math.min(40, 16 * view.scale)) + "px"; });
  if (view.scale > 0.45 && shown("places")) {
    for (const place of beside) {
      const [x, y] = toScreen(place.x, place.y);
      const steps = stepsOf([x, y + 15], place.name.length * WORD);
      if (roomAt(steps, taken) < NAME_GAP) continue;
      taken.push(...steps);
      label(place.name, [x, y + 18], "beside");
    }
  }
  drawFound();
});
