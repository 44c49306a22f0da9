// A chart of dots with their intervals: a band per value of a group, a dot per model.
const SVG = "http://www.w3.org/2000/svg";
const HUES = 8;
const SHAPES = 4; // with the hues, so that no two models differ in colour alone
const BAND = { line: 15, gap: 10, narrow: 560 };

function draw(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// The mark of a model, at a place.
function markOf(model, x, y) {
  const r = 4.6;
  const place = { class: "series", style: `--hue: var(--c${model % HUES})`, "stroke-width": 1 };
  switch (model % SHAPES) {
    case 0: return draw("circle", { ...place, cx: x, cy: y, r });
    case 1: return draw("rect", { ...place, x: x - r + 0.4, y: y - r + 0.4, width: 2 * r - 0.8, height: 2 * r - 0.8 });
    case 2: return draw("path", { ...place, d: `M${x} ${y - r - 0.8}L${x + r + 0.6} ${y + r - 0.6}H${x - r - 0.6}Z` });
    default: return draw("path", { ...place, d: `M${x} ${y - r - 1.2}L${x + r + 1.2} ${y}L${x} ${y + r + 1.2}L${x - r - 1.2} ${y}Z` });
  }
}

function seriesLegend(names) {
  const items = names.map((name, model) => make("li", {},
    draw("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, markOf(model, 7, 7)),
    make("span", { class: "given" }, name)));
  return make("ul", { class: "legend", "aria-label": "Models" }, ...items);
}

// Round steps that divide a range into about four.
function ticksOf(low, high) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 4));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= (high - low) / 4 - 1e-12);
  const ticks = [];
  for (let k = Math.floor(low / step + 1e-9); k * step < high + step * (1 - 1e-9); k++) ticks.push(k * step);
  return ticks;
}

// Figures: a list per model of [mean, low, high, instances] or null per value.
function chartOf(group, figures, width, title) {
  const flat = figures.flat().filter((one) => one && one[0] !== null);
  if (!flat.length) return make("p", { class: "soft" }, "No value of this measure in any group.");
  const ends = flat.flatMap((one) => one.slice(0, 3)).filter((value) => value !== null);
  const ticks = ticksOf(Math.min(0, ...ends), Math.max(...ends, 1e-9));
  const [first, last] = [ticks[0], ticks[ticks.length - 1]];
  const narrow = width < BAND.narrow;
  const left = narrow ? 6 : 190;
  const right = width - 22;
  const at = (value) => left + (value - first) / (last - first) * (right - left);
  const tall = figures.length * BAND.line + BAND.gap + (narrow ? 18 : 0);
  const height = 26 + Math.max(tall, 24) * group.values.length;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Chart: ${title}. The table below has its numbers.` });
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10((last - first) / (ticks.length - 1)) + 0.35)));
  group.values.forEach((value, band) => {
    const top = 24 + band * Math.max(tall, 24);
    if (band % 2 === 0) picture.append(draw("rect", { class: "band", x: 0, y: top, width, height: Math.max(tall, 24) }));
    const middle = narrow ? top + 15 : top + Math.max(tall, 24) / 2 + 4;
    picture.append(draw("text", { x: 6, y: middle }, shortened(value.label, narrow ? 46 : 26)));
  });
  for (const tick of ticks) {
    picture.append(draw("line", { class: "grid", x1: at(tick), x2: at(tick), y1: 20, y2: height }));
    const anchor = tick === first && narrow ? "start" : "middle";
    picture.append(draw("text", { class: "soft", x: at(tick), y: 14, "text-anchor": anchor }, tick.toFixed(digits)));
  }
  group.values.forEach((value, band) => {
    const top = 24 + band * Math.max(tall, 24) + (narrow ? 18 : 0);
    figures.forEach((row, model) => {
      const figure = row[band];
      if (!figure || figure[0] === null) return;
      const y = top + BAND.gap / 2 + (model + 0.5) * BAND.line;
      if (figure[1] !== null) {
        picture.append(draw("line", { class: "series", style: `--hue: var(--c${model % HUES})`, "stroke-width": 2, "stroke-opacity": 0.55, x1: at(figure[1]), x2: at(figure[2]), y1: y, y2: y }));
      }
      picture.append(markOf(model, at(figure[0]), y));
    });
  });
  return picture;
}

function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}
