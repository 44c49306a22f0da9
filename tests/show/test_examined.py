"""What came of a drive after its phases: its end by the loss ledger, checks, scores, selection."""

import msgspec
import pytest

from pipeline.show.gather import life_of
from pipeline.show.page import page_data
from pipeline.show.screen import screen_of
from tests.review.trips import checked_trip, judged_trip
from tests.show.project import CITY, put, reject


def loss(stage, reason, split):
    state = "released" if reason is None else "rejected"
    return {"item_id": "17", "raw_trip_id": "17", "state": state, "stage": stage,
            "reason": reason, "decides": True, "split": split}  # fmt: skip


def test_a_released_trip_ends_in_its_split(own_project):
    put(own_project, "loss", [loss("release", None, "train")])
    life = life_of(own_project, CITY, "17")
    assert (life.final.state, life.final.stage) == ("released", "release")
    told = screen_of(life, all_rows=False)
    assert "TRIP 17 · tiny · released" in told
    assert "ENDED  released, split train" in told


@pytest.mark.parametrize("stage", ["plan_intents", "annotate", "check", "select"])
def test_a_phased_trip_that_a_later_stage_refused_ends_there(own_project, stage):
    put(own_project, "loss", [loss(stage, "some_reason", None)])
    reject(own_project, stage, [("17", "some_reason", "as long as it is wide")])
    told = screen_of(life_of(own_project, CITY, "17"), all_rows=False)
    assert f"ENDED  rejected by {stage}: some_reason: as long as it is wide" in told


def test_a_ledger_that_does_not_know_the_trip_changes_nothing(own_project):
    put(own_project, "loss", [loss("release", None, "train") | {"item_id": "99"}])
    assert life_of(own_project, CITY, "17").final.state == "phased"


def test_checks_scores_and_selection_are_told_on_screen_and_page(own_project, ground):
    finding = {"field": "trajectory_caption", "stage": "grounding", "rule": "off_route_name",
               "start": 0, "end": 3, "detail": "Kaukotie", "action": "flag"}  # fmt: skip
    repair = {"field": "instruction_chatty", "stage": "punctuation", "rule": "spacing",
              "before": "a  b", "after": "a b"}  # fmt: skip
    checked = msgspec.to_builtins(checked_trip("17"))
    put(own_project, "checked", [checked | {"findings": [finding], "repairs": [repair]}])
    put(own_project, "judged", [msgspec.to_builtins(judged_trip("17", "judge", 4))])
    selected = {"trip_id": "17", "score": 4.0, "scored": 10, "at_cut": False}
    put(own_project, "selected", [selected])
    life = life_of(own_project, CITY, "17")
    told = screen_of(life, all_rows=False).split("EXAMINED\n")[1].split("\n\n")[0]
    assert [line.strip() for line in told.splitlines()] == [
        "checked   3 of 5 names grounded, 1 of 2 claims supported, findings: 1, repairs: 1",
        "finding   caption, off_route_name: Kaukotie (flag)",
        "repair    chatty, spacing: 'a  b' -> 'a b'",
        "judged    instructions 4 4 4 4, queries 4 4 4, caption 4 4 4; by vllm judge",
        "selected  score 4.00 of 5, 10 criteria scored",
    ]
    assert ("selected", "score 4.00 of 5, 10 criteria scored") in page_data(life, ground)["drives"][
        0
    ]["said"]


def test_a_trip_that_was_never_checked_has_no_such_block(life):
    assert life.drives[0].examined is None
    assert "EXAMINED" not in screen_of(life, all_rows=False)
