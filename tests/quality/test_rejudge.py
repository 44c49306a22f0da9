"""Other judges see the drawn trips and no others, by the same prompt; without them all is empty."""

import msgspec
import pytest

from pipeline.errors import ParameterError
from pipeline.quality.examiner import ExaminerSettings
from pipeline.quality.judge_prompt import shown_order
from tests.language.asked_project import ABSENT
from tests.quality.judged import (
    answer,
    checked_trip,
    judged_project,
    recorded,
    request_of,
)

IDS = ["t1", "t2", "t3", "t4"]
NAMES = ("rejudged", "rejudge_responses", "rejudge_metrics")


@pytest.fixture
def trips():
    return [checked_trip(trip_id) for trip_id in IDS]


@pytest.fixture
def project(tmp_path, trips):
    """Four trips in two shards, of which two are drawn; the judge `toy` answers about those."""
    made = judged_project(tmp_path, [trips[:2], trips[2:]])
    drawn = [{"trip_id": one, "selected": True, "score": 4.0, "why": ["sample"],
              "judge_milder": [], "judge_stricter": []}
             for one in ("t2", "t3")]  # fmt: skip
    made.put("sampled", drawn)
    other = recorded(made)
    made.params["rejudge"] = {"judges": [other]}
    made.save()
    settings = msgspec.convert(other, ExaminerSettings)
    made.record({trip.trip_id: request_of(trip, settings) for trip in trips},
                {"t2": [answer(3)], "t3": [answer(5)]})  # fmt: skip
    return made


def test_the_drawn_trips_are_judged_again_and_no_others(project):
    project.run("rejudge")
    rows = project.rows("rejudged")
    assert [(row["trip_id"], row["model"]) for row in rows] == [("t2", "toy"), ("t3", "toy")]
    assert [row["scores"]["caption_accuracy"] for row in rows] == [3, 5]
    assert [row["shown"] for row in rows] == [shown_order(7, "t2"), shown_order(7, "t3")]
    assert len(project.rows("rejudge_responses")) == 2
    figures = project.record_of("rejudge_metrics")
    assert figures["trips"] == 2
    (judge,) = figures["judges"]
    assert (judge["model"], judge["trips"], judge["same_family"]) == ("toy", 2, None)


def test_several_judges_give_a_verdict_each(project):
    project.params["judge"] = recorded(project, "qwen-72b")
    rules = recorded(project) | {"engine": {"kind": "rules"}}
    project.params["rejudge"]["judges"].append(rules)
    project.save()
    project.run("rejudge")
    rows = project.rows("rejudged")
    assert [(row["model"], row["trip_id"]) for row in rows] == [
        ("toy", "t2"), ("toy", "t3"), ("rules", "t2"), ("rules", "t3"),
    ]  # fmt: skip
    assert [one["model"] for one in project.record_of("rejudge_metrics")["judges"]] == [
        "toy", "rules",
    ]  # fmt: skip


def test_without_other_judges_the_tables_are_there_and_empty(project):
    project.set("rejudge", judges=[])
    project.run("rejudge")
    assert project.rows("rejudged") == project.rows("rejudge_responses") == []
    assert project.record_of("rejudge_metrics") == {"city": "toy", "trips": 2, "judges": []}


def test_without_drawn_trips_nobody_is_asked(project):
    project.put("sampled", [])
    absent = project.params["rejudge"]["judges"][0] | {"engine": ABSENT}
    project.set("rejudge", judges=[absent])
    project.run("rejudge")
    assert project.rows("rejudged") == []
    assert project.record_of("rejudge_metrics")["judges"][0]["trips"] == 0


@pytest.mark.parametrize("primary", ["toy", "rules"])
def test_two_judges_of_one_name_are_refused(project, primary):
    judges = project.params["rejudge"]["judges"]
    if primary == "toy":
        project.params["judge"] = recorded(project)
    else:
        judges = judges * 2
    project.set("rejudge", judges=judges)
    with pytest.raises(ParameterError, match=r"rejudge\.judges: .* found 'toy' twice"):
        project.run("rejudge")


def test_a_second_run_gives_the_same_bytes(project):
    project.run("rejudge")
    first = project.bytes_of(*NAMES)
    project.run("rejudge")
    assert project.bytes_of(*NAMES) == first
