// Parts of a page beside the map: nodes, lists of facts, and the boxes that switch layers.
function make(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function facts(rows) {
  return make("dl", {}, ...rows.flatMap(([label, value]) => [make("dt", {}, label), make("dd", {}, value)]));
}

function layerBox([name, label]) {
  const box = make("input", {type: "checkbox", checked: "", "data-toggles": name});
  box.addEventListener("change", () => {
    svg.querySelectorAll(`[data-layer="${name}"]`).forEach((group) => group.toggleAttribute("hidden", !box.checked));
  });
  return make("label", {class: "layer"}, box, label);
}
