// The panel beside the map: what the trip is, which layers show, and its phases as buttons.
drawTrip(JSON.parse(document.getElementById("data").textContent));
const panel = document.getElementById("panel");
const ROLES = {O: "Origin", T: "Transit", D: "Destination"};

function head() {
  const badges = [make("span", {class: "badge " + trip.state}, trip.state), make("span", {class: "badge"}, trip.city)];
  if (trip.simulated) badges.push(make("span", {class: "badge simulated", title: "The GPS trace was simulated on the real road network"}, "simulated"));
  return make("header", {}, make("h1", {}, "Trip " + trip.title), make("div", {class: "badges"}, ...badges), facts(trip.facts));
}

function layerBoxes() {
  const key = make("div", {class: "key"}, ...trip.decisions.map((decision) =>
    make("span", {}, make("span", {class: "swatch " + (decision.kept ? "kept" : "dot-" + decision.colour)}), `${decision.name} ${decision.count}`)));
  const rows = [["path", "Driven path"], ["cells", "H3 cells (phase and role)"], ["points", `GPS points (${trip.points.length})`]].map(layerBox);
  rows.push(key, ...[["places", `Places (${trip.places.length})`], ["streets", "Streets"]].map(layerBox));
  return make("fieldset", {}, make("legend", {}, make("h2", {}, "Layers")), ...rows);
}

function phaseButton(phase) {
  const compass = make("span", {class: "compass", "aria-hidden": "true", style: `transform: rotate(${phase.heading}deg)`}, "\u2191");
  const sum = make("span", {class: "sum"}, `${ROLES[phase.role]} · `, compass, ` ${phase.dir} · ${phase.time_spent} · ${phase.length} · ${phase.segments}`);
  const roads = phase.roads || "no road name";
  const button = make("button", {type: "button", class: "phase role-" + phase.role, "data-key": phase.key, "aria-pressed": "false"},
    make("span", {class: "number"}, String(phase.p)),
    make("span", {class: "way" + (phase.roads ? "" : " unnamed")}, roads), sum);
  if (phase.about) button.append(make("span", {class: "about"}, phase.about));
  button.addEventListener("click", () => pick(picked === phase.key ? null : phase.key, {reveal: true}));
  return make("li", {}, button);
}

function phaseLists() {
  return trip.drives.flatMap((drive) => [
    make("h2", {}, drive.title),
    drive.phases.length
      ? make("ol", {class: "phases"}, ...drive.phases.map(phaseButton))
      : make("p", {class: "note"}, drive.without),
    ...(drive.said.length ? [make("h2", {}, "What is said"), facts(drive.said)] : []),
  ]);
}

function endings() {
  return [make("h2", {}, "Where it ended"), make("ul", {class: "plain"}, ...trip.endings.map((text) => make("li", {}, text)))];
}

panel.append(head(), layerBoxes(), ...phaseLists(), ...endings(),
  ...trip.notes.map((note) => make("p", {class: "note"}, note)));
document.getElementById("credit").textContent = trip.credit;

startMap();
