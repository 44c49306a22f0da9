const data = JSON.parse(document.getElementById("data").textContent);
const ARROWS = { higher: "↑", lower: "↓", "": "" };

// Text reaches the page as text nodes and attributes alone.
function make(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function number(value, digits = 3) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

function counted(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

// ---- the table of models -----------------------------------------------------------------------

function coverageLines(coverage) {
  const lines = [make("small", {}, `${coverage.predicted} of ${coverage.instances} predicted`)];
  if (coverage.missing) lines.push(make("small", { class: "bad" }, `${coverage.missing} missing`));
  const invalid = Object.entries(coverage.invalid).map(([reason, count]) => `${count} ${reason}`);
  if (invalid.length) lines.push(make("small", { class: "bad" }, `invalid: ${invalid.join(", ")}`));
  if (coverage.other) lines.push(make("small", {}, `${coverage.other} of other splits left out`));
  return lines;
}

function figureCell(row, measure, section) {
  const figure = row.figures[measure.name];
  const kind = [row.marks[measure.name], measure.main ? "" : "more"].filter(Boolean).join(" ");
  if (!figure || figure[0] === null) return make("td", { class: kind || null }, figure ? "undefined" : "–");
  const cell = make("td", { class: kind || null });
  if (row.marks[measure.name]) cell.append(make("span", { class: "mark" }, row.marks[measure.name] === "best" ? "best" : "2nd"));
  cell.append(make("b", {}, number(figure[0])));
  if (figure[1] !== null) cell.append(make("small", {}, `${number(figure[1])} – ${number(figure[2])}`));
  if (figure[3] < section.instances) cell.append(make("small", {}, `of ${figure[3]}`));
  return cell;
}

function rowOf(row, section) {
  const head = make("th", { scope: "row" }, make("span", { class: "name given" }, row.name));
  if (row.coverage) head.append(...coverageLines(row.coverage));
  else head.append(make("small", { class: "badge" }, row.kind));
  const line = make("tr", {}, head, ...section.measures.map((measure) => figureCell(row, measure, section)));
  return { line, row };
}

function flagOf(measure, section) {
  if (!measure.overlapping.length) return [];
  const models = section.rows.filter((row) => row.kind === "model").length;
  const whose = measure.overlapping.length === models ? "" : ` for ${measure.overlapping.map(([model]) => section.rows[model].name).join(", ")}`;
  return [make("span", { class: "flag given" }, `does not separate${whose}`)];
}

// The first order of a column has the best on top; what has no value stays below.
function compareBy(measure, ascending) {
  return (one, other) => {
    const [a, b] = [one, other].map(({ row }) => row.figures[measure]?.[0] ?? null);
    if (a === null || b === null) return (a === null) - (b === null);
    return ascending ? a - b : b - a;
  };
}

function compareNames(ascending) {
  return (one, other) => (ascending ? 1 : -1) * (one.row.name < other.row.name ? -1 : one.row.name > other.row.name ? 1 : 0);
}

function scoresOf(section) {
  const models = section.rows.filter((row) => row.kind === "model").map((row) => rowOf(row, section));
  const references = section.rows.filter((row) => row.kind !== "model").map((row) => rowOf(row, section));
  const body = make("tbody", { class: "models" }, ...models.map(({ line }) => line));
  const below = make("tbody", { class: "references" });
  if (references.length) {
    below.append(make("tr", { class: "kind" }, make("th", { scope: "rowgroup" }, "Floors and ceilings"), make("td", { colspan: section.measures.length })));
    below.append(...references.map(({ line }) => line));
  }
  const head = make("tr", {});
  const sortable = (cell, words, firstAscending, compare) => {
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () => {
      const before = cell.getAttribute("aria-sort");
      const ascending = before === null ? firstAscending : before !== "ascending";
      head.querySelectorAll("[aria-sort]").forEach((one) => one.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      body.append(...[...models].sort(compare(ascending)).map(({ line }) => line));
      below.append(...[...references].sort(compare(ascending)).map(({ line }) => line));
    });
    cell.prepend(button);
    return cell;
  };
  head.append(sortable(make("th", { scope: "col" }), "Model", true, compareNames));
  for (const measure of section.measures) {
    const cell = make("th", { scope: "col", class: measure.main ? null : "more", title: measure.sentence }, make("small", {}, measure.unit), ...flagOf(measure, section));
    head.append(sortable(cell, `${measure.name} ${ARROWS[measure.better]}`.trim(), measure.better === "lower", (ascending) => compareBy(measure.name, ascending)));
  }
  const caption = make("caption", { class: "unseen" }, `Scores of ${section.title}; the heads of columns sort it`);
  const table = make("table", { class: "scores main-only" }, caption, make("thead", {}, head), body, below);
  return scrolling(table, `Scores of ${section.title}`);
}

function scrolling(table, label) {
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, table);
}

// Shows the measures that wait behind the main ones, in the table and among the definitions.
function moreBox(section, places) {
  const hidden = section.measures.filter((measure) => !measure.main).length;
  if (!hidden) return [];
  const box = make("input", { type: "checkbox" });
  box.addEventListener("change", () => places.forEach((place) => place.classList.toggle("main-only", !box.checked)));
  return [make("label", {}, box, ` All ${section.measures.length} measures`)];
}

function definitionsOf(section) {
  const list = make("dl", { class: "main-only" });
  for (const measure of section.measures) {
    const kind = measure.main ? null : "more";
    const text = make("dd", { class: kind }, `${measure.sentence} (${measure.unit})`);
    for (const [model, overlaps] of measure.overlapping) {
      text.append(make("span", { class: "flag given" }, `${section.rows[model].name}: the ceiling's interval overlaps that of ${overlaps.join(", ")}`));
    }
    list.append(make("dt", { class: kind }, measure.name), text);
  }
  for (const row of section.rows) {
    if (row.kind !== "model") list.append(make("dt", { class: "given" }, row.name), make("dd", {}, `${row.sentence} (${row.kind})`));
  }
  return list;
}

// ---- breakdowns --------------------------------------------------------------------------------

function groupTable(group, figures, names, title) {
  const heads = group.values.map((value) => make("th", { scope: "col" }, make("span", { class: "given" }, value.label),
    make("small", {}, counted(value.instances, "instance")), make("small", {}, counted(value.trips, "trip"))));
  const rows = names.map((name, model) => make("tr", {}, make("th", { scope: "row" }, make("span", { class: "name given" }, name)),
    ...figures[model].map((figure) => {
      if (!figure || figure[0] === null) return make("td", {}, figure ? "undefined" : "–");
      const cell = make("td", {}, make("b", {}, number(figure[0])));
      if (figure[1] !== null) cell.append(make("small", {}, `${number(figure[1])} – ${number(figure[2])}`));
      return cell;
    })));
  const table = make("table", {}, make("caption", { class: "unseen" }, title),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Model"), ...heads)), make("tbody", {}, ...rows));
  return scrolling(table, title);
}

function breakdownsOf(section) {
  if (!section.groups.length) return [make("p", { class: "soft" }, "The reports have no groups to break the scores down by.")];
  const names = section.rows.filter((row) => row.kind === "model").map((row) => row.name);
  const choice = make("select", {}, ...section.measures.map(({ name }) => make("option", { value: name, selected: name === section.charted }, name)));
  const places = section.groups.map(() => make("div", {}));
  let drawn = 0;
  const fill = () => {
    section.groups.forEach((group, k) => {
      const title = `${choice.value} by ${group.name}`;
      const width = Math.max(260, Math.min(860, places[k].clientWidth || 860));
      places[k].replaceChildren(make("h3", {}, title), make("div", { class: "chart" }, chartOf(group, group.figures[choice.value], width, title)),
        groupTable(group, group.figures[choice.value], names, title));
    });
    drawn = window.innerWidth;
  };
  choice.addEventListener("change", fill);
  window.addEventListener("resize", () => { if (window.innerWidth !== drawn) fill(); });
  redraws.push(fill);
  return [make("h3", {}, "Breakdowns"), make("div", { class: "row" }, make("label", {}, "Measure ", choice)), seriesLegend(names), ...places];
}

// ---- the page ----------------------------------------------------------------------------------

const redraws = []; // once the page has a width

function sectionOf(section, k) {
  const table = scoresOf(section);
  const definitions = definitionsOf(section);
  const how = make("details", {}, make("summary", {}, "How each measure and reference is defined"), definitions);
  const under = section.options.length ? ` Options: ${section.options.join(", ")}.` : "";
  return make("section", { id: `s${k}` },
    make("h2", { class: "given" }, section.title),
    make("p", { class: "soft given" }, `${counted(section.instances, "instance")} of ${counted(section.trips, "trip")}; release ${section.release.slice(0, 12)}, seed ${section.seed}.${under}`),
    make("div", { class: "row" }, ...moreBox(section, [table.firstChild, definitions])),
    table, how, ...breakdownsOf(section), ...(section.examples.length ? examplesOf(section) : []));
}

function citedOf(cited) {
  const section = make("section", { id: "cited" }, make("h2", {}, "Cited from the paper"),
    make("p", {}, "Other cities, other trips and texts, and definitions that may differ: for orientation, not for comparison with the scores above."),
    make("p", { class: "soft" }, cited.source));
  for (const table of cited.tables) {
    const digits = table.columns.map((_, k) => Math.max(...table.rows.map((row) => (String(row[k + 2]).split(".")[1] ?? "").length)));
    const rows = table.rows.map(([city, method, ...values]) => make("tr", {}, make("th", { scope: "row" }, method), make("td", { class: "words" }, city),
      ...values.map((value, k) => make("td", {}, value.toFixed(digits[k])))));
    const heads = ["Method", "City", ...table.columns].map((words, k) => make("th", { scope: "col", class: k === 1 ? "words" : null }, words));
    section.append(make("h3", {}, table.title), scrolling(make("table", {}, make("caption", { class: "unseen" }, table.title), make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)), table.title));
  }
  return section;
}

function fillPage() {
  const links = data.sections.map((section, k) => [`#s${k}`, section.title]);
  if (data.cited) links.push(["#cited", "Cited from the paper"]);
  const board = document.getElementById("board");
  board.append(make("h1", {}, "Scores on the tasks"),
    make("p", {}, "Means over all instances with 95 % intervals over trips; what is missing or invalid is scored as wrong. Best and second best are by the mean alone: whether two models differ, ", make("code", {}, "tasks compare"), " tells."),
    make("p", { class: "soft" }, "Floors are what one scores without reading, guides what part of the answer gives, ceilings the best possible. A measure does not separate where the ceiling's interval overlaps a floor's: it tells little on these data."));
  if (links.length > 1) board.append(make("nav", { "aria-label": "Sections" }, make("ul", {}, ...links.map(([to, words]) => make("li", {}, make("a", { href: to, class: "given" }, words))))));
  board.append(...data.sections.map(sectionOf));
  if (data.cited) board.append(citedOf(data.cited));
  redraws.forEach((fill) => fill());
}

fillPage();
