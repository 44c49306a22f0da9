"""The command plan for the stages that judge and verify: what they would ask, and of whom."""

import shutil
import subprocess

import pytest
import yaml

from pipeline.language.plan import TaskPlan, plan, plan_words
from pipeline.language.prompts import PROMPTS
from tests.language.asked_project import ABSENT, RECORDED, AskedProject
from tests.quality.checked_project import CheckedProject, annotated, verified_by, verify_requests
from tests.quality.judged import answer, checked_trip, judge_requests, judged_project, recorded

OWN_PARAMS = yaml.safe_load((PROMPTS.parent / "params.yaml").read_text("utf-8"))
IDS = ["t1", "t2", "t3"]


def plans(project: AskedProject, stage: str, *, against: str | None = None) -> list[TaskPlan]:
    """Plan the city; return the plans of one stage."""
    return [
        one for one in plan(project.root, ["toy"], against=against, diffs=1) if one.stage == stage
    ]


def completed(project: AskedProject) -> AskedProject:
    """Add the sections and prompts that a whole project has."""
    for name in ("check", "families", "judge", "rejudge"):
        project.params.setdefault(name, OWN_PARAMS[name])
    template = {"engine": {"kind": "template"}}
    project.params |= {name: project.params[name] | template for name in ("annotate", "narrate")}
    project.save()
    shutil.copytree(PROMPTS, project.root / "prompts")
    return project


@pytest.fixture
def trips():
    return [checked_trip(one) for one in IDS]


@pytest.fixture
def judged(tmp_path, trips):
    """Three checked trips that wait for a judge; two of them are drawn for others."""
    made = judged_project(tmp_path, [trips[:2], trips[2:]])
    drawn = [{"trip_id": one, "selected": True, "score": 4.0, "why": ["sample"],
              "judge_milder": [], "judge_stricter": []}
             for one in ("t1", "t3")]  # fmt: skip
    made.put("sampled", drawn)
    return completed(made)


def test_the_rules_ask_nothing_and_say_so_in_one_line(judged):
    (judge,) = plans(judged, "judge")
    assert list(plan_words(judge)) == ["judge toy · rules: no model is asked"]
    assert (judge.task, judge.requests, judge.change) == ("judge", None, None)
    (check,) = plans(judged, "check")
    assert list(plan_words(check)) == ["check toy · rules: no model is asked"]


def test_without_other_judges_nobody_is_asked(judged):
    (rejudge,) = plans(judged, "rejudge")
    assert rejudge.model is None
    assert list(plan_words(rejudge)) == ["rejudge toy · nobody is named: no model is asked"]


def test_a_judge_is_asked_about_every_checked_trip(judged):
    judged.set("judge", engine=ABSENT)
    (judge,) = plans(judged, "judge")
    assert (judge.requests, judge.reused, judge.new) == (3, 0, 3)
    assert judge.model.model == "toy"


def test_what_a_judge_has_answered_is_not_asked_again(judged, trips):
    judged.set("judge", **recorded(judged))
    judged.record(judge_requests(judged, trips), {"t1": [answer(4)], "t2": ["no", answer(4)],
                                                  "t3": ["no", "no"]})  # fmt: skip
    judged.run("judge")
    judged.set("judge", engine=ABSENT)
    (judge,) = plans(judged, "judge")
    assert (judge.requests, judge.reused, judge.new, judge.exhausted) == (3, 2, 0, 1)


def test_other_judges_are_planned_one_by_one_on_the_drawn_trips(judged):
    others = [recorded(judged) | {"engine": ABSENT | {"model": one}} for one in ("G", "P")]
    judged.params["rejudge"] = {"judges": others}
    judged.save()
    found = plans(judged, "rejudge")
    assert [(one.model.model, one.requests, one.new) for one in found] == [("G", 2, 2), ("P", 2, 2)]


def test_a_word_in_the_rubric_makes_every_verdict_new(judged, trips):
    judged.set("judge", **recorded(judged))
    judged.record(judge_requests(judged, trips), {one: [answer(4)] for one in IDS})
    judged.run("judge")
    file = judged.root / "prompts/judge/rubric.yaml"
    file.write_text(file.read_text("utf-8").replace("Facts alone.", "Nothing but facts."), "utf-8")
    (judge,) = plans(judged, "judge")
    assert (judge.reused, judge.new) == (0, 3)


def test_trips_that_are_not_checked_yet_are_missed_with_the_stage_that_makes_them(judged):
    judged.set("judge", engine=ABSENT)
    shutil.rmtree(judged.path("checked"))
    (judge,) = plans(judged, "judge")
    assert list(plan_words(judge)) == [
        "judge toy · vllm toy 1",
        "  checked not there yet; run `dvc repro check@toy`",
    ]


def test_a_verifier_is_asked_about_trips_with_open_statements_and_about_them_once(tmp_path):
    open_trip = annotated("t1", "today", instruction_concise="Past a dentist, today.")
    refused = annotated("t2", "soon", instruction_concise="Past a dentist and Rua do Sul.")
    project = completed(CheckedProject(tmp_path, [[open_trip, refused, annotated("t3", "now")]]))
    engine = RECORDED | {"file": str(tmp_path / RECORDED["file"])}
    verified_by(project, engine, asks="open_claims")
    (check,) = plans(project, "check")
    assert (check.task, check.requests, check.new) == ("verify", 1, 1)
    told = '{"verdicts": [{"id": 1, "verdict": "supported", "reason": "it is there"}]}'
    project.record(verify_requests(project), {"t1": [told]})
    project.run("check")
    (check,) = plans(project, "check")
    assert (check.reused, check.new) == (1, 0)


def test_a_verifier_of_whole_texts_is_asked_about_every_trip_that_no_rule_refuses(tmp_path):
    refused = annotated("t2", "soon", instruction_concise="Past a dentist and Rua do Sul.")
    trips = [annotated("t1", "today"), refused, annotated("t3", "now")]
    project = completed(CheckedProject(tmp_path, [trips[:2], trips[2:]]))
    engine = RECORDED | {"file": str(tmp_path / RECORDED["file"])}
    verified_by(project, engine, asks="whole_texts", attempts=1, most_failed_share=0.5)
    (check,) = plans(project, "check")
    assert (check.task, check.requests, check.new) == ("verify", 2, 2)
    nothing = '{"verdicts": [], "further": []}'
    project.record(verify_requests(project), {"t1": [nothing], "t3": ["All is well."]})
    project.run("check")
    (check,) = plans(project, "check")
    assert (check.reused, check.new, check.exhausted) == (1, 0, 1)


def test_a_judge_is_compared_with_the_revisions_judge_of_the_same_model(judged):
    def judges(*names: str) -> None:
        made = [recorded(judged) | {"engine": ABSENT | {"model": one}} for one in names]
        judged.params["rejudge"] = {"judges": made}
        judged.save()

    judges("G", "P")
    committed(judged.root)
    judges("P", "Q")
    p, q = plans(judged, "rejudge")
    assert (p.change.compared, p.change.prompts_differ, p.change.requests_differ) == (2, 0, 0)
    assert (q.change.compared, q.change.prompts_differ, q.change.requests_differ) == (2, 0, 2)


def test_a_revision_whose_judge_was_no_model_is_not_compared(judged):
    committed(judged.root)
    judged.set("judge", engine=ABSENT)
    (judge,) = plans(judged, "judge")
    assert list(plan_words(judge))[-1] == "  against HEAD: not compared, it asked no model"


def committed(root) -> None:
    """Put the project's prompts and parameters into a git repository."""
    who = ["-c", "user.name=Tester", "-c", "user.email=tester@localhost"]
    for words in (["init", "-q"], ["add", "prompts", "params.yaml", "configs"],
                  ["commit", "-q", "-m", "Start"]):  # fmt: skip
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
