// The hand on the map: wheel, drag, pinch, keys, hovering and choosing a phase.
let picked = null;  // key of the chosen phase, "drive number:phase number"
const held = new Map();  // pointers that are down: id -> [x, y]
let moved = 0;
const tip = document.getElementById("tip");

function at(event) {
  const frame = svg.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
}

function pick(key, {reveal = false} = {}) {
  picked = key;
  document.querySelectorAll(".phase").forEach((button) => {
    const chosen = button.dataset.key === key;
    button.setAttribute("aria-pressed", String(chosen));
    if (chosen && !reveal) button.scrollIntoView({block: "nearest"});
  });
  const legs = trip.legs.filter((leg) => key !== null && leg.key === key);
  trip.legs.forEach((leg) => leg.node.classList.toggle("picked", legs.includes(leg)));
  trip.cells.forEach((cell) => cell.node.classList.toggle("picked", cell.keys.includes(key)));
  legs.forEach((leg) => layers.path.append(leg.node));
  const cells = trip.cells.filter((cell) => cell.keys.includes(key));
  cells.forEach((cell) => layers.cells.append(cell.node));
  const box = boundsOf([...legs.map((leg) => leg.line), ...cells.map((cell) => cell.ring)]);
  if (reveal && !(inView(toScreen(box[0], box[3])) && inView(toScreen(box[2], box[1])))) fit(box);
  refresh();
}

function pickAt(target) {
  if (target.dataset.key) return pick(target.dataset.key);
  const cell = trip.cells.find((one) => one.cell === target.dataset.cell);
  if (!cell) return pick(null);
  // A cell driven through twice belongs to two phases: each click goes on to the next.
  return pick(cell.keys[(cell.keys.indexOf(picked) + 1) % cell.keys.length]);
}

svg.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  held.set(event.pointerId, at(event));
  if (held.size === 1) moved = 0;
  tip.hidden = true;
});

window.addEventListener("pointermove", (event) => {
  const before = held.get(event.pointerId);
  if (!before) return;
  const now = at(event);
  const others = [...held].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
  moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
  if (moved > 4) svg.classList.add("moving");
  if (others.length === 0) moveBy(now[0] - before[0], now[1] - before[1]);
  else {
    const [other] = others;
    const span = (place) => Math.max(1, Math.hypot(place[0] - other[0], place[1] - other[1]));
    zoomAt(span(now) / span(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }
  held.set(event.pointerId, now);
});

function release(event) {
  held.delete(event.pointerId);
  if (held.size === 0) svg.classList.remove("moving");
}
window.addEventListener("pointerup", release);
window.addEventListener("pointercancel", release);
svg.addEventListener("click", (event) => { if (moved <= 4) pickAt(event.target); });

svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoomAt(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * lines)) / 400), ...at(event));
}, {passive: false});

const ARROWS = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, dialog")) return;
  if (event.key === "+" || event.key === "=") zoomBy(1.5);
  else if (event.key === "-" || event.key === "_") zoomBy(1 / 1.5);
  else if (event.key === "0") fitWhole();
  else if (event.key === "Escape") pick(null);
  else if (event.target === svg && ARROWS[event.key]) moveBy(...ARROWS[event.key]);
  else return;
  event.preventDefault();
});
document.getElementById("closer").addEventListener("click", () => zoomBy(1.5));
document.getElementById("farther").addEventListener("click", () => zoomBy(1 / 1.5));
document.getElementById("whole").addEventListener("click", fitWhole);

// ---- hovering -----------------------------------------------------------------------------------

function shown(name) {
  return !layers[name].hasAttribute("hidden");
}

function nearestDot(dots, [x, y], reach) {
  let best = null;
  for (const dot of dots) {
    const away = Math.hypot(dot.x - x, dot.y - y);
    if (away <= reach) { reach = away; best = dot; }
  }
  return best;
}

function awayFrom(flat, [x, y]) {
  let best = Infinity;
  for (let i = 2; i < flat.length; i += 2) {
    const ax = flat[i - 2], ay = flat[i - 1], dx = flat[i] - ax, dy = flat[i + 1] - ay;
    const square = dx * dx + dy * dy;
    const share = square ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / square)) : 0;
    best = Math.min(best, Math.hypot(ax + share * dx - x, ay + share * dy - y));
  }
  return best;
}

function nearestStreet(place, reach) {
  let best = null;
  for (const street of trip.streets) {
    const away = awayFrom(street.line, place);
    if (away <= reach) { reach = away; best = street; }
  }
  return best;
}

// Return [heading, details] of what lies under the hand, the smallest thing first.
function under(place) {
  const pixel = 1 / view.scale;
  const point = shown("points") && nearestDot(trip.points, place, 8 * pixel);
  if (point) return ["GPS point " + point.index, point.when + " · " + point.words];
  const spot = shown("places") && nearestDot(trip.places, place, 7 * pixel);
  if (spot) return [spot.name, spot.category];
  const street = shown("streets") && nearestStreet(place, 7 * pixel);
  layers.underHand.setAttribute("d", street ? lineOf(street.line) : "");
  layers.underHand.style.strokeWidth = "9px";
  if (street) return [street.name || "Road without a name", street.highway + (street.oneway ? " · one way" : "")];
  return null;
}

svg.addEventListener("mousemove", (event) => {
  if (held.size) return;
  const [px, py] = at(event);
  const found = under(toWorld(px, py));
  tip.hidden = !found;
  if (!found) return;
  const heading = document.createElement("b");
  heading.textContent = found[0];
  tip.replaceChildren(heading, found[1]);
  tip.style.left = Math.min(px + 14, view.width - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(py + 16, view.height - tip.offsetHeight - 8) + "px";
});
svg.addEventListener("mouseleave", () => {
  tip.hidden = true;
  layers.underHand.setAttribute("d", "");
});
