"""Selection: exact scores, ties broken by the id alone, samples that stay when trips are added."""

import math
from fractions import Fraction

import msgspec
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.quality.rubric import CRITERIA, TASKS, task_of
from pipeline.quality.rules import STAGE_OF, Rule
from pipeline.quality.sampling import (
    UNITS,
    Cut,
    SampleSettings,
    disagreements,
    draws,
    flagged_tasks,
    sampled,
)
from pipeline.quality.select import SelectSettings, scored, selected
from pipeline.quality.verdicts import verdicts_frame
from pipeline.records import Finding, Scores
from pipeline.schemas import arrow_schema
from tests.quality.judged import (
    SAMPLES,
    checked_trip,
    judged_project,
    put_shard,
    scores,
    verdict,
)

SAMPLE = msgspec.convert(SAMPLES, SampleSettings)
SETTINGS = SelectSettings(least_scored=7, least_score=2.0, top=100, samples=SAMPLE)


def judged(**given_scores: Scores) -> pl.DataFrame:
    """Return verdicts on trips, by id."""
    return verdicts_frame([verdict(trip_id, one) for trip_id, one in given_scores.items()])


def alike(count: int, score: int = 4) -> pl.DataFrame:
    """Return verdicts on so many trips that all score alike."""
    return judged(**{f"t{number}": scores(score) for number in range(count)})


def choose(frame: pl.DataFrame, *, seed: int = 7, **changes) -> pl.DataFrame:
    return selected(frame, settings=msgspec.structs.replace(SETTINGS, **changes), seed=seed).trips


def taken(frame: pl.DataFrame, **changes) -> set[str]:
    return set(choose(frame, **changes).filter("selected")["trip_id"])


NO_FLAGS = pl.DataFrame(schema={"trip_id": pl.String, "task": pl.String})


def draw_samples(
    frame: pl.DataFrame, *, flags: pl.DataFrame = NO_FLAGS, top=100, least_score=2.0, **changes
):
    rule = msgspec.structs.replace(SETTINGS, top=top, least_score=least_score)
    found = selected(frame, settings=rule, seed=7)
    return sampled(
        found.trips, found.cut, judged=frame, flags=flags,
        settings=msgspec.structs.replace(SAMPLE, **changes), seed=7,
    )  # fmt: skip


def checked_rows(**flags: list[Finding]) -> pl.DataFrame:
    """Return checked trips with what quality control found in them, by id."""
    rows = [
        msgspec.structs.replace(checked_trip(trip_id), findings=findings)
        for trip_id, findings in flags.items()
    ]
    return pl.DataFrame(msgspec.to_builtins(rows), schema=pl.Schema(arrow_schema("checked_trip")))


def finding(field: str, rule: Rule, action: str = "flag") -> Finding:
    return Finding(field, STAGE_OF[rule], rule.value, 0, 1, "as found", action)


def drawn_for(samples, purpose: str) -> list[str]:
    return samples.trips.filter(pl.col("why").list.contains(purpose))["trip_id"].to_list()


# ---- the score -----------------------------------------------------------------------------------


def test_a_score_is_the_mean_of_three_tasks_not_of_ten_criteria():
    caption = {code: 1 for code in CRITERIA if task_of(code) == "caption"}
    row = scored(judged(t1=scores(4, **caption))).row(0, named=True)
    assert row["units"] / UNITS == 3.0  # (4 + 4 + 1) / 3
    assert row["scored"] == 10


def test_what_is_not_scored_is_left_out_of_its_task():
    given_scores = scores(4, instructions_persona_fidelity=None, queries_accuracy=None,
                          queries_specificity=2)  # fmt: skip
    row = scored(judged(t1=given_scores)).row(0, named=True)
    assert row["units"] == UNITS * Fraction(4 + 3 + 4, 3)
    assert row["scored"] == 8


@given(st.lists(st.none() | st.integers(1, 5), min_size=10, max_size=10))
def test_a_score_is_exact(values):
    given_scores = dict(zip(CRITERIA, values, strict=True))
    row = scored(judged(t1=scores(**given_scores))).row(0, named=True)
    means = []
    for task in TASKS:
        found = [v for code, v in given_scores.items() if task_of(code) == task and v is not None]
        means.append(Fraction(sum(found), len(found)) if found else None)
    if None in means:
        assert row["units"] is None
    else:
        assert row["units"] == UNITS * sum(means) / 3


# ---- who is taken --------------------------------------------------------------------------------


def test_more_room_than_trips_takes_all_and_cuts_nothing():
    found = selected(alike(3), settings=SETTINGS, seed=7)
    assert found.trips["selected"].all()
    assert found.cut == Cut("least_score", 2.0 * UNITS, 0, 0)


def test_the_best_are_taken_and_the_rest_say_where_the_cut_was():
    frame = judged(a=scores(5), b=scores(3), c=scores(4))
    trips = choose(frame, top=2)
    assert trips["selected"].to_list() == [True, False, True]
    assert trips["refused"].to_list() == ["", "below_cut", ""]


def test_ties_at_the_cut_are_broken_by_a_hash_and_counted():
    found = selected(
        pl.concat([alike(20), judged(best=scores(5))]),
        settings=msgspec.structs.replace(SETTINGS, top=8),
        seed=7,
    )
    assert found.cut == Cut("top", 4 * UNITS, 20, 7)
    winners = found.trips.filter("selected")
    assert winners.height == 8
    assert winners.filter("at_cut").height == 7
    assert not winners.filter(trip_id="best")["at_cut"][0]


def test_a_cut_between_two_scores_breaks_no_tie():
    found = selected(
        judged(a=scores(5), b=scores(5), c=scores(4)),
        settings=msgspec.structs.replace(SETTINGS, top=2),
        seed=7,
    )
    assert found.cut == Cut("top", 5 * UNITS, 2, 2)
    assert not found.trips["at_cut"].any()


@given(st.permutations(range(12)), st.integers(1, 12))
@settings(deadline=None)
def test_the_order_of_the_trips_decides_nothing(order, top):
    frame = alike(12)
    assert taken(frame[list(order)], top=top) == taken(frame, top=top)


def test_another_seed_breaks_ties_otherwise():
    assert taken(alike(40), top=20) != taken(alike(40), top=20, seed=8)


@given(st.integers(1, 30), st.integers(0, 10))
@settings(deadline=None)
def test_trips_that_are_added_change_no_order_of_the_others(top, more):
    before, after = taken(alike(30), top=top), taken(alike(30 + more), top=top)
    old = {f"t{number}" for number in range(30)}
    assert before >= after & old  # nobody comes in because others did
    assert len(before - after) == len(after - old)


def test_a_trip_below_the_least_score_is_refused_and_one_at_it_is_not():
    frame = judged(a=scores(3), b=scores(3, caption_accuracy=2))
    assert choose(frame, least_score=3.0)["refused"].to_list() == ["", "below_least_score"]


def test_too_few_scored_criteria_or_none_in_a_task_is_unscored():
    caption = dict.fromkeys(code for code in CRITERIA if task_of(code) == "caption")
    frame = judged(
        all_there=scores(4),
        seven=scores(4, instructions_correctness=None, queries_accuracy=None,
                     caption_accuracy=None),
        six=scores(4, instructions_correctness=None, instructions_no_hallucination=None,
                   queries_accuracy=None, caption_accuracy=None),
        no_caption=scores(4, **caption),
    )  # fmt: skip
    assert choose(frame)["refused"].to_list() == ["", "", "unscored", "unscored"]


def test_everything_refused_leaves_an_empty_selection():
    found = selected(alike(5, 1), settings=SETTINGS, seed=7)
    assert not found.trips["selected"].any()
    assert found.cut == Cut("least_score", 2.0 * UNITS, 0, 0)
    samples = draw_samples(alike(5, 1))
    assert drawn_for(samples, "sample") == drawn_for(samples, "people") == []


# ---- samples -------------------------------------------------------------------------------------


def test_numbers_of_a_drawing_depend_on_seed_purpose_and_id_alone():
    ids = pl.Series(["a", "b"])
    assert draws(7, "tie", ids).to_list() == draws(7, "tie", ids.reverse()).to_list()[::-1]
    assert draws(7, "tie", ids).to_list() != draws(8, "tie", ids).to_list()
    assert draws(7, "tie", ids).to_list() != draws(7, "sample", ids).to_list()


def test_samples_are_as_large_as_asked_for_or_as_there_are():
    samples = draw_samples(alike(5), sample=3, people=9)
    assert samples.counts["sample"] == {"of": 5, "drawn": 3}
    assert samples.counts["people"] == {"of": 5, "drawn": 5}


def test_people_look_at_the_first_of_the_random_sample():
    samples = draw_samples(alike(200), sample=50, people=10)
    assert set(drawn_for(samples, "people")) < set(drawn_for(samples, "sample"))
    assert len(drawn_for(samples, "people")) == 10


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 40))
@settings(deadline=None, max_examples=40)
def test_a_sample_stays_when_trips_are_added(count, more, size):
    before = drawn_for(draw_samples(alike(count), sample=size), "sample")
    after = drawn_for(draw_samples(alike(count + more), sample=size), "sample")
    old = {f"t{number}" for number in range(count)}
    assert set(after) & old <= set(before)
    assert len(after) == min(size, count + more)


def test_a_sample_is_random_over_the_trips():
    drawn = drawn_for(draw_samples(alike(1000), top=1000, sample=500), "sample")
    first_half = sum(int(one[1:]) < 500 for one in drawn)
    assert abs(first_half - 250) < 4 * math.sqrt(1000 * 0.25 / 4)


NEAR_ALONE = {"sample": 0, "people": 0, "judge_stricter": 0, "near_cut": 10}
AROUND = judged(
    far_above=scores(5),
    above=scores(4, caption_accuracy=5),  # 4 + 1/9
    at=scores(4),
    below=scores(4, caption_accuracy=3),  # 4 - 1/9
    far_below=scores(3),
)


@pytest.mark.parametrize("cut", [{"top": 3}, {"least_score": 4.0}])
def test_trips_close_to_the_cut_are_drawn_on_both_sides_whatever_cuts(cut):
    samples = draw_samples(AROUND, near_cut_margin=0.12, **NEAR_ALONE | cut)
    assert drawn_for(samples, "near_cut") == ["above", "at", "below"]
    assert samples.trips["selected"].to_list() == [True, True, False]
    tight = draw_samples(AROUND, near_cut_margin=0.0, **NEAR_ALONE | cut)
    assert drawn_for(tight, "near_cut") == ["at"]


def test_the_closest_of_either_side_are_drawn_first():
    samples = draw_samples(AROUND, top=3, near_cut_margin=1.0, **NEAR_ALONE | {"near_cut": 1})
    assert drawn_for(samples, "near_cut") == ["at", "below"]
    assert samples.counts["near_cut"] == {"of": 5, "drawn": 2}


def test_of_trips_equally_close_a_hash_draws_whatever_their_order():
    frame = alike(40)
    drawn = drawn_for(draw_samples(frame, near_cut_margin=2.0, **NEAR_ALONE), "near_cut")
    again = draw_samples(frame.reverse(), near_cut_margin=2.0, **NEAR_ALONE)
    assert len(drawn) == 10
    assert sorted(drawn_for(again, "near_cut")) == sorted(drawn)


def test_a_trip_refused_for_too_few_scores_is_close_to_no_cut():
    few = dict.fromkeys(("instructions_correctness", "queries_accuracy", "caption_accuracy",
                         "caption_objectivity"))  # fmt: skip
    frame = judged(few=scores(4, **few), all_there=scores(4))
    samples = draw_samples(frame, least_score=4.0, **NEAR_ALONE)
    assert drawn_for(samples, "near_cut") == ["all_there"]


# ---- where judge and quality control disagree ----------------------------------------------------


def test_what_quality_control_doubts_is_a_flag_of_grounding_or_verification():
    frame = checked_rows(
        name=[finding("retrieval_query_2", Rule.SHORT_NAME)],
        twice=[finding("trajectory_caption", Rule.UNVERIFIED),
               finding("trajectory_caption", Rule.GLOSSED_NAME),
               finding("instruction_chatty", Rule.NEAR_NAME)],
        mended=[finding("trajectory_caption", Rule.DASH, "repair")],
        wording=[finding("trajectory_caption", Rule.OPENER),
                 finding("instruction_literal", Rule.PIPELINE_WORD)],
        nothing=[],
    )  # fmt: skip
    assert flagged_tasks(frame).rows() == [
        ("name", "queries"), ("twice", "caption"), ("twice", "instructions"),
    ]  # fmt: skip


def test_a_judge_that_finds_nothing_false_where_something_is_flagged_is_milder():
    flags = pl.DataFrame({"trip_id": ["all_good", "one_low", "unjudged", "other_task"],
                          "task": ["queries", "queries", "queries", "caption"]})  # fmt: skip
    frame = judged(
        all_good=scores(2, queries_accuracy=4, queries_no_hallucination=5, caption_accuracy=4,
                        instructions_correctness=4, instructions_no_hallucination=4),
        one_low=scores(4, queries_accuracy=3),
        unjudged=scores(4, queries_accuracy=None, queries_no_hallucination=None),
        other_task=scores(4, caption_accuracy=1),
    )  # fmt: skip
    found = disagreements(frame, flags, sound=4)
    assert found["judge_milder"].to_list() == [
        ["queries_accuracy", "queries_no_hallucination"], [], [], [],
    ]  # fmt: skip
    assert found["judge_stricter"].to_list() == [[], [], [], []]
    assert disagreements(frame, flags, sound=5)["judge_milder"].to_list() == [[], [], [], []]


def test_a_judge_that_finds_something_false_where_nothing_is_flagged_is_stricter():
    flags = pl.DataFrame({"trip_id": ["flagged"], "task": ["caption"]})
    frame = judged(
        flagged=scores(4, caption_accuracy=1),
        not_flagged=scores(4, caption_accuracy=3, instructions_correctness=2),
        about_style=scores(4, instructions_style_distinctness=1, caption_objectivity=1,
                           queries_specificity=1, caption_comprehensiveness=1,
                           instructions_persona_fidelity=1),
        unjudged=scores(None),
    )  # fmt: skip
    found = disagreements(frame, flags, sound=4)
    assert found["judge_stricter"].to_list() == [
        [], ["instructions_correctness", "caption_accuracy"], [], [],
    ]  # fmt: skip


def test_both_kinds_of_disagreement_are_drawn_selected_or_not():
    flags = pl.DataFrame({"trip_id": ["praised"], "task": ["caption"]})
    frame = judged(praised=scores(5), blamed=scores(1), sound=scores(4))
    samples = draw_samples(frame, flags=flags, sample=0, people=0, near_cut=0)
    assert samples.trips.to_dicts() == [
        {"trip_id": "praised", "selected": True, "score": 5.0, "why": ["judge_milder"],
         "judge_milder": ["caption_accuracy"], "judge_stricter": []},
        {"trip_id": "blamed", "selected": False, "score": 1.0, "why": ["judge_stricter"],
         "judge_milder": [],
         "judge_stricter": ["instructions_correctness", "instructions_no_hallucination",
                            "queries_accuracy", "queries_no_hallucination", "caption_accuracy"]},
    ]  # fmt: skip
    assert samples.counts["judge_milder"] == samples.counts["judge_stricter"] == {
        "of": 1, "drawn": 1,
    }  # fmt: skip


@given(st.integers(1, 30), st.integers(0, 30))
@settings(deadline=None, max_examples=30)
def test_what_is_drawn_of_a_disagreement_stays_when_trips_are_added(count, more):
    drawn = [drawn_for(draw_samples(alike(n, 3)), "judge_stricter") for n in (count, count + more)]
    assert {one for one in drawn[1] if int(one[1:]) < count} <= set(drawn[0])
    assert len(drawn[1]) == min(10, count + more)


def test_a_city_without_trips_has_no_disagreements():
    empty = pl.DataFrame(schema=pl.Schema(arrow_schema("checked_trip")))
    assert flagged_tasks(empty).height == 0


# ---- the stage -----------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path):
    """Six trips in two shards: one best, three alike, one poor, one without a verdict."""
    ids = ["best", "a", "b", "c", "poor", "none"]
    made = judged_project(tmp_path, [[checked_trip(one) for one in ids[:4]],
                                     [checked_trip(one) for one in ids[4:]]])  # fmt: skip
    rows = [verdict("best", scores(5)), *(verdict(one, scores(4)) for one in "abc"),
            verdict("poor", scores(1))]  # fmt: skip
    put_shard(made, "judged", rows[:4], 0)
    put_shard(made, "judged", [rows[4], verdict("none", scores(None), status="malformed")], 1)
    made.params["select"]["top"] = 2
    made.save()
    return made


def test_the_stage_accounts_for_every_trip(project):
    project.run("select")
    rows = project.rows("selected")
    rejected = {row["item_id"]: row for row in project.rows("select_rejected")}
    assert {row["trip_id"] for row in rows} | set(rejected) == {
        "best", "a", "b", "c", "poor", "none",
    }  # fmt: skip
    assert rows[0] == {"trip_id": "best", "score": 5.0, "scored": 10, "at_cut": False}
    assert (rows[1]["score"], rows[1]["at_cut"]) == (4.0, True)
    assert rejected["poor"]["detail"] == "score 1.0, expected at least 2.0"
    assert rejected["none"]["detail"] == "malformed: no JSON"
    (late, _) = (row for row in rejected.values() if row["reason"] == "below_cut")
    assert late["detail"] == ("score 4.0, the cut is at 4.0, 3 tie there, 1 of them taken by hash")


def test_the_stage_prints_and_keeps_cut_ties_and_tie_break(project, capsys):
    project.run("select")
    figures = project.record_of("selection_metrics")
    assert figures["cut"] == {
        "by": "top", "score": 4.0, "tied": 3, "tied_taken": 1,
        "tie_break": "lowest blake2b-64 of seed, 'tie' and trip id, joined by 0x1f",
    }  # fmt: skip
    assert figures["rejected"] == {"unscored": 1, "below_least_score": 1, "below_cut": 2}
    assert (figures["trips"], figures["selected"], figures["judge"]) == (6, 2, "rules")
    assert figures["scores"]["p50"] == 4.0
    assert capsys.readouterr().err == (
        "select toy: 2 of 6 trips taken; the cut is at 4.0, 3 tie there, 1 of them taken by hash\n"
    )


def test_the_stage_draws_what_its_checked_trips_are_flagged_for(project):
    put_shard(project, "checked", [
        msgspec.structs.replace(checked_trip(one), findings=[])
        for one in ("best", "b", "c")
    ] + [msgspec.structs.replace(
        checked_trip("a"), findings=[finding("trajectory_caption", Rule.UNVERIFIED)])
    ])  # fmt: skip
    project.run("select")
    drawn = {row["trip_id"]: row for row in project.rows("sampled")}
    assert "judge_milder" in drawn["a"]["why"]
    assert drawn["a"]["judge_milder"] == ["caption_accuracy"]
    assert "judge_stricter" in drawn["poor"]["why"]
    figures = project.record_of("selection_metrics")["samples"]
    assert (figures["judge_milder"]["of"], figures["judge_stricter"]["of"]) == (1, 1)


def test_a_cut_by_the_least_score_is_told_as_such(project, capsys):
    project.params["select"]["top"] = 100
    project.save()
    project.run("select")
    cut = project.record_of("selection_metrics")["cut"]
    assert (cut["by"], cut["score"], cut["tied"]) == ("least_score", 2.0, 0)
    assert capsys.readouterr().err == (
        "select toy: 4 of 6 trips taken; the cut is at 2.0, the least score\n"
    )


def test_the_stage_gives_the_same_bytes_in_every_run(project):
    names = ("selected", "sampled", "select_rejected", "selection_metrics")
    project.run("select")
    first = project.bytes_of(*names)
    project.run("select")
    assert project.bytes_of(*names) == first


def test_a_city_without_trips_selects_nothing(tmp_path):
    project = judged_project(tmp_path, [[]])
    put_shard(project, "judged", [])
    project.run("select")
    figures = project.record_of("selection_metrics")
    assert (figures["trips"], figures["selected"], figures["judge"]) == (0, 0, None)
    assert figures["scores"] == {"mean": None, "p10": None, "p50": None, "p90": None}
    assert project.rows("selected") == project.rows("sampled") == []
