// An example on its map: streets around, the true route, the predicted one, their ends.
const RANKS = { best: "Best", middling: "Middling", worst: "Worst" };

function pathOf(lines) {
  return lines.map((line) => {
    let text = "";
    for (let i = 0; i < line.length; i += 2) text += `${i ? "L" : "M"}${line[i]} ${line[i + 1]}`;
    return text;
  }).join("");
}

function spot(kind, x, y, r) {
  if (kind === "start") return draw("circle", { class: "spot start", cx: x, cy: y, r });
  if (kind === "true") return draw("rect", { class: "spot true", x: x - r * 0.95, y: y - r * 0.95, width: r * 1.9, height: r * 1.9 });
  return draw("path", { class: "spot predicted", d: `M${x} ${y - r * 1.4}L${x + r * 1.4} ${y}L${x} ${y + r * 1.4}L${x - r * 1.4} ${y}Z` });
}

function lastOf(lines) {
  const line = lines[lines.length - 1];
  return [line[line.length - 2], line[line.length - 1]];
}

// The largest round number of metres that is at most a quarter of the width.
function barMetres(width) {
  const power = 10 ** Math.floor(Math.log10(width / 4));
  return [5, 2, 1].find((step) => step * power <= width / 4) * power;
}

function mapOf(shapes, words) {
  const { width, height } = shapes;
  const r = width / 62;
  const picture = draw("svg", { class: "map", viewBox: `${-width / 2} ${-height / 2} ${width} ${height}`, role: "img", "aria-label": words });
  picture.append(draw("path", { class: "street", d: pathOf(shapes.streets) }));
  picture.append(draw("path", { class: "route true", d: pathOf(shapes.true) }));
  if (shapes.predicted.length) picture.append(draw("path", { class: "route predicted", d: pathOf(shapes.predicted) }));
  const [first] = shapes.true;
  picture.append(spot("start", first[0], first[1], r));
  picture.append(spot("true", ...lastOf(shapes.true), r));
  if (shapes.predicted.length) picture.append(spot("predicted", ...lastOf(shapes.predicted), r * 0.8));
  const bar = barMetres(width);
  const [x, y] = [-width / 2 + width * 0.035, height / 2 - height * 0.045];
  picture.append(draw("path", { class: "bar", d: `M${x} ${y - height * 0.015}V${y}H${x + bar}V${y - height * 0.015}` }));
  const label = bar >= 1000 ? `${bar / 1000} km` : `${bar} m`;
  picture.append(draw("text", { x, y: y - height * 0.03, "font-size": width * 0.034 }, label));
  return picture;
}

function mapLegend(task, compared) {
  const sample = (content) => draw("svg", { class: "sample", width: 26, height: 14, viewBox: "0 0 26 14", "aria-hidden": "true" }, content);
  const rows = [
    [draw("path", { class: "route true", d: "M3 7H23" }), "true route"],
    [spot("start", 13, 7, 5), "start"],
    [spot("true", 13, 7, 5), "true end"],
  ];
  if (compared) {
    const other = task === "retrieval" ? "first retrieved trip" : "predicted route";
    rows.push([draw("path", { class: "route predicted", d: "M3 7H23" }), other], [spot("predicted", 13, 7, 4), "its end"]);
  }
  return make("ul", { class: "legend", "aria-label": "What the maps show" }, ...rows.map(([content, words]) => make("li", {}, sample(content), words)));
}

function quoted(label, text) {
  return make("div", {}, make("div", { class: "soft" }, label), make("blockquote", { class: "given", dir: "auto" }, text || "(empty)"));
}

function cardOf(example, names, task) {
  const figures = names.map((name, k) => `${name} ${number(example.figures[k])}`).join(", ");
  const body = make("div", { class: "body" },
    make("div", { class: "head" }, make("h4", {}, RANKS[example.rank]), make("span", { class: "soft" }, figures)));
  if (example.asked) body.append(quoted(task === "retrieval" ? "Query" : "Instruction", example.asked));
  if (task === "captioning") {
    body.append(make("div", { class: "pair" }, quoted("Reference", example.wanted), quoted("Caption of the model", example.given)));
  }
  body.append(make("div", { class: "soft given" }, [example.note, example.instance_id].filter(Boolean).join(" · ")));
  const words = `Map of ${example.instance_id}: the true route${task === "captioning" ? "" : " and the predicted one"}; ${figures}.`;
  return make("article", { class: task === "captioning" ? "card captioned" : "card" }, mapOf(example.map, words), body);
}

function examplesOf(section) {
  const [first] = section.examples;
  const compared = section.task !== "captioning";
  const parts = section.examples.map((one, k) => {
    const names = one.by.join(", then ");
    const details = make("details", { open: k === 0 }, make("summary", {}, make("b", { class: "given" }, section.rows[one.model].name)));
    details.append(make("p", { class: "soft" }, `Best, middling and worst by ${names}, of the ${one.scored} valid of ${one.instances} predictions.`));
    details.append(one.examples.length
      ? make("div", { class: "cards" }, ...one.examples.map((example) => cardOf(example, one.by, section.task)))
      : make("p", {}, "No prediction is valid: nothing to draw."));
    return details;
  });
  return [make("h3", {}, "Examples"), mapLegend(section.task, compared), ...parts, make("p", { class: "soft given" }, first.credit)];
}
