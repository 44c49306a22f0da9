// The texts of one task, with their names and claims as buttons that lead to the map.
const VERDICTS = {
  grounded: "found in the trip's record", off_route: "of this city, not of this trip", invented: "not found in this city",
  supported: "the record agrees", contradicted: "the record says otherwise", unverified: "the record does not settle it",
};
const LEGEND = [["name", "grounded", "on the trip"], ["name", "off_route", "elsewhere in the city"], ["name", "invented", "not found"],
  ["claim", "supported", "claim holds"], ["claim", "unverified", "claim open"], ["claim", "contradicted", "claim false"]];

// Cut a text where evidence begins and ends: [text, evidence or null], the shortest where two overlap.
function pieces(text, evidence) {
  const letters = Array.from(text);  // code points, as `start` and `end` count them
  const cuts = [0, letters.length, ...evidence.flatMap((one) => [one.start, one.end])];
  const sorted = [...new Set(cuts)].filter((cut) => cut <= letters.length).sort((a, b) => a - b);
  return sorted.slice(1).map((end, i) => {
    const start = sorted[i];
    const over = evidence.filter((one) => one.start <= start && one.end >= end);
    over.sort((a, b) => (a.end - a.start) - (b.end - b.start));
    return [letters.slice(start, end).join(""), over[0] || null];
  });
}

function evidenceButton(words, one) {
  const node = make("span", {
    role: "button", tabindex: "0", class: `evidence ${one.what} ${one.verdict}`,
    title: one.words, "aria-label": `${words}: ${VERDICTS[one.verdict]}`,
  }, words);
  one.nodes = [...(one.nodes || []), node];
  const show = () => showEvidence(one);
  node.addEventListener("click", show);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    show();
  });
  return node;
}

function textBlock({field, label}, item) {
  const own = item.evidence.filter((one) => one.field === field);
  own.forEach((one) => { one.nodes = []; });
  const words = pieces(item.texts[field], own).map(([part, one]) => one ? evidenceButton(part, one) : part);
  return make("article", {class: "text"}, make("h3", {}, label), make("p", {dir: "auto", "data-field": field}, ...words));
}

function legend(evidence) {
  const present = LEGEND.filter(([what, verdict]) => evidence.some((one) => one.what === what && one.verdict === verdict));
  return make("p", {class: "legend"}, ...present.map(([what, verdict, words]) =>
    make("span", {}, make("span", {class: `evidence ${what} ${verdict}`}, words))));
}

function showTexts(task, item) {
  const fields = task.texts.map((text) => text.field);
  const own = item.evidence.filter((one) => fields.includes(one.field));
  document.getElementById("texts").replaceChildren(...task.texts.map((text) => textBlock(text, item)), legend(own));
  showEvidence(null);
}

// ---- the record -----------------------------------------------------------------------------------

const ROLES = {O: "start", T: "", D: "end"};

function phaseButton(phase, count) {
  const compass = make("span", {class: "compass", "aria-hidden": "true", style: `transform: rotate(${phase.heading}deg)`}, "\u2191");
  const role = ROLES[phase.role];
  const number = make("span", {class: "number", style: `--role: ${shade(phase.p, count)}`}, String(phase.p));
  const way = make("span", {class: "way" + (phase.roads.length ? "" : " unnamed"), dir: "auto"}, phase.roads.join(", ") || "no road name");
  const sum = make("span", {class: "sum"}, `${phase.when} `, compass, ` ${phase.dir} · ${phase.time_spent} · ${phase.length}${role ? " · " + role : ""}`);
  const about = make("span", {class: "about", dir: "auto"}, phase.about.join(" · "));
  const beside = phase.places.map(([name, category]) => category ? `${name} (${category})` : name).join(", ");
  const button = make("button", {type: "button", class: "phase role-" + phase.role, "data-key": phase.key, "aria-pressed": "false"}, number, way, sum, about);
  if (beside) button.append(make("span", {class: "beside", dir: "auto"}, beside));
  button.addEventListener("click", () => { showEvidence(null); pick(picked === phase.key ? null : phase.key, {reveal: true}); });
  return make("li", {}, button);
}

function showRecord(item) {
  const list = document.querySelector("#record .phases");
  list.replaceChildren(...item.phases.map((phase) => phaseButton(phase, item.phases.length)));
  list.parentElement.scrollTop = 0;
}
