// The rubric: one criterion after the other, each with its question and what every score means.
const scoresBox = document.getElementById("scores");

function taskOf(criterion) {
  return page.rubric.tasks.find((task) => task.criteria.some((one) => one.code === criterion));
}

function showTasks() {
  const current = taskOf(kept.at.criterion);
  document.getElementById("tasks").replaceChildren(...page.rubric.tasks.map((task) => {
    const scored = task.criteria.filter((one) => given(kept.at.trip, one.code).score !== null).length;
    const button = make("button", {type: "button", class: scored === task.criteria.length ? "full" : "", "aria-current": task === current ? "step" : false},
      task.name, make("span", {class: "count"}, `${scored}/${task.criteria.length}`));
    button.addEventListener("click", () => goToCriterion(firstOpen(task)));
    return button;
  }));
}

function firstOpen(task) {
  const open = task.criteria.find((one) => given(kept.at.trip, one.code).score === null);
  return (open || task.criteria[0]).code;
}

// Who scored besides people: the rules are no model, and are not called one.
function judgesOf(trip_id) {
  return itemOf.get(trip_id).models.every((model) => model.judge === "rules") ? "rules" : "models";
}

function modelScores(criterion) {
  if (!workOn(kept.at.trip).revealed) return [];
  const models = itemOf.get(kept.at.trip).models;
  return [make("span", {class: "models"}, ...models.map((model) =>
    make("span", {title: model.judge}, `${model.judge} `, make("b", {}, String(model.scores[criterion] ?? "none")))))];
}

function secondThought(revised) {
  return revised ? make("span", {class: "revised"}, "now ", make("b", {}, String(revised))) : "";
}

function closedRow(one) {
  const {score, revised, comment} = given(kept.at.trip, one.code);
  const words = score === null ? "no score yet" : `${score}, ${page.rubric.scale[5 - score]}`;
  const button = make("button", {type: "button", class: "criterion closed", "data-criterion": one.code, "aria-expanded": "false"},
    make("span", {class: "given" + (score === null ? " none" : "")}, score === null ? "\u2013" : String(score)),
    make("span", {class: "name"}, one.name), make("span", {class: "unseen"}, `: ${words}`),
    secondThought(revised), comment ? make("span", {class: "has-comment"}, "comment") : "", ...modelScores(one.code));
  button.addEventListener("click", () => goToCriterion(one.code));
  return button;
}

function openCard(one) {
  const {score, revised, comment} = given(kept.at.trip, one.code);
  const now = revised ?? score;
  const marks = one.marks.map(([value, words]) => {
    const first = revised && value === score ? make("b", {class: "first"}, " (your first score)") : "";
    const button = make("button", {type: "button", class: "mark-" + value, "aria-pressed": String(value === now), "data-score": value},
      make("kbd", {}, String(value)), make("span", {}, words, first));
    button.addEventListener("click", () => give(value));
    return button;
  });
  const box = make("textarea", {id: "comment", rows: "1", maxlength: "2000", placeholder: "Comment (c)", "aria-label": `Comment on ${one.name}`, dir: "auto"});
  box.value = comment;
  box.addEventListener("input", () => change(kept.at.trip, one.code, {comment: box.value}));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey && !event.isComposing)) {
      event.preventDefault();
      event.stopPropagation();
      document.getElementById("open").focus();
    }
  });
  return make("section", {class: "criterion", id: "open", tabindex: "-1", "aria-labelledby": "open-name", "data-criterion": one.code},
    make("h3", {id: "open-name"}, one.name, ...modelScores(one.code)), make("p", {class: "question"}, one.question),
    make("div", {class: "marks-list", role: "group", "aria-label": `Score of ${one.name}, 5 is best`}, ...marks), box);
}

function showScores({focus = false, scroll = false} = {}) {
  const task = taskOf(kept.at.criterion);
  scoresBox.replaceChildren(...task.criteria.map((one) => one.code === kept.at.criterion ? openCard(one) : closedRow(one)));
  if (focus) document.getElementById("open").focus({preventScroll: true});
  if (scroll) document.getElementById("open").scrollIntoView({block: "nearest"});
}

function showWholeItem() {
  const place = document.getElementById("whole-item");
  const trip_id = kept.at.trip, models = itemOf.get(trip_id).models;
  if (!isDone(trip_id)) return place.replaceChildren();
  const on = make("button", {type: "button", class: "main"}, isLast() ? "To the first open trip" : "Next trip", make("kbd", {}, "Enter"));
  on.addEventListener("click", goOn);
  const onward = isLast() && everyDone() ? [] : [on];
  const words = workOn(trip_id).revealed
    ? `The ${judgesOf(trip_id)}' scores stand beside yours. Your first scores are what counts; what you would change now is kept beside them.`
    : everyDone() ? `All ${order.length} trips are rated. Export your scores and send the file back. Thank you!` : "All ten are scored.";
  const parts = [make("p", {}, words), ...onward];
  if (models.length && !workOn(trip_id).revealed) {
    const show = make("button", {type: "button", id: "reveal", title: "After that your first scores of this trip stay; changes are kept beside them"}, `Show the ${judgesOf(trip_id)}' scores`);
    show.addEventListener("click", () => { work(trip_id, {revealed: true}); keepTrip(trip_id); showItemParts({focus: true}); });
    parts.push(show);
  }
  if (workOn(trip_id).revealed) parts.push(...rationales(models));
  place.replaceChildren(...parts);
}

function rationales(models) {
  const task = taskOf(kept.at.criterion).code;
  return models.filter((model) => model.rationales[task]).map((model) =>
    make("p", {class: "rationale", dir: "auto"}, make("b", {}, model.judge + ": "), model.rationales[task]));
}

// ---- what a rater does ------------------------------------------------------------------------------

function give(score) {
  const {trip: trip_id, criterion} = kept.at;
  if (workOn(trip_id).revealed) return thinkAgain(trip_id, criterion, score);
  tick(performance.now());
  change(trip_id, criterion, {score, seconds: Math.round(10 * workOn(trip_id).seconds) / 10});
  const at = CODES.indexOf(criterion);
  const next = isDone(trip_id) ? null : CODES.slice(at + 1).concat(CODES).find((code) => given(trip_id, code).score === null);
  say(`${CRITERIA[at].name}: ${score} of 5, ${page.rubric.scale[5 - score]}.` + (next ? ` Next: ${CRITERIA[CODES.indexOf(next)].name}.` : " All ten are scored."));
  if (next) goToCriterion(next);
  else showItemParts({focus: true, scroll: true});
}

// Once the models' scores were seen the first score stays as it was, and another is kept beside it.
function thinkAgain(trip_id, criterion, score) {
  const first = given(trip_id, criterion).score;
  if (first === null) return say("This was not scored before the models' scores were shown.");
  change(trip_id, criterion, {revised: score === first ? null : score});
  say(score === first ? `${score} of 5, your first score.` : `${score} of 5 now; your first score, ${first}, is what counts.`);
  showItemParts({focus: true});
}

// New texts are read before they are scored.
function toTheTexts() {
  const work = document.getElementById("work");
  work.scrollTop = 0;
  if (work.scrollHeight === work.clientHeight) document.getElementById("tasks").scrollIntoView({block: "nearest"});
}

function goToCriterion(code) {
  const before = taskOf(kept.at.criterion);
  kept.at.criterion = code;
  keepDesk();
  const turns = taskOf(code) !== before;
  if (turns) showTexts(taskOf(code), itemOf.get(kept.at.trip));
  showItemParts({focus: true, scroll: !turns});
  if (turns) toTheTexts();
}

function stepCriterion(by) {
  const to = CODES.indexOf(kept.at.criterion) + by;
  if (to >= 0 && to < CODES.length) goToCriterion(CODES[to]);
}
