// The page's data: streets are laid down once for all trips; a trip takes those around it.
const page = JSON.parse(document.getElementById("data").textContent);
const AROUND_M = 400;
const CRITERIA = page.rubric.tasks.flatMap((task) => task.criteria.map((one) => ({...one, task: task.code})));

// A line comes as its first point and the step to each next one, in decimetres.
function unpacked(steps) {
  const line = [];
  steps.forEach((step, i) => line.push(i < 2 ? step : line[i - 2] + step));
  return line.map((number) => number / 10);
}

function withBox(street) {
  return {...street, box: boundsOf([street.line])};
}

const word = (number) => page.words[number];
const streets = page.streets.map(([name, highway, oneway, kind, ...line]) =>
  withBox({name: word(name), highway: word(highway), oneway: Boolean(oneway), kind: word(kind), line: unpacked(line)}));
const named = page.named.map(([name, kind, length, ...line]) =>
  withBox({name: word(name), kind: word(kind), length, line: unpacked(line)}));
const places = page.places.map(([name, category, x, y]) => ({name, category, x, y, box: [x, y, x, y]}));

function meets(a, b) {
  return a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];
}

// How far along the trip a phase lies, as a colour; neighbours differ little, ends much.
function shade(number, count) {
  const at = count > 1 ? 3 * number / (count - 1) : 0, from = Math.min(2, Math.floor(at));
  return `color-mix(in oklab, var(--ramp-${from + 1}) ${Math.round(100 * (at - from))}%, var(--ramp-${from}))`;
}

// Return what the map draws of an item.
function tripOf(item) {
  const legs = item.legs.map((leg) => ({...leg, line: unpacked(leg.line)}));
  const rings = item.cells.map((cell) => cell.ring);
  const spots = item.evidence.filter((one) => one.x !== undefined).map((one) => [one.x, one.y]);
  const box = boundsOf([...legs.map((leg) => leg.line), ...rings, ...spots]);
  const around = [box[0] - AROUND_M, box[1] - AROUND_M, box[2] + AROUND_M, box[3] + AROUND_M];
  const driven = new Set(item.phases.flatMap((phase) => phase.roads));
  const letters = named.filter((street) => meets(street.box, around)).map((s) => ({...s, driven: driven.has(s.name)}));
  return {
    legs, ends: item.ends, cells: item.cells.map((cell) => ({...cell, labels: cell.labels.slice(1)})), points: [], decisions: [],
    streets: streets.filter((street) => meets(street.box, around)),
    named: [...letters.filter((street) => street.driven), ...letters.filter((street) => !street.driven)],
    places: places.filter((place) => meets(place.box, around)),
  };
}
