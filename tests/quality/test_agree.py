"""The report of agreement: who is compared with whom, on which trips, and what it comes to."""

import json

import msgspec
import polars as pl
import pytest

from pipeline.quality.agreement_report import (
    AgreementReport,
    AgreeSettings,
    Panel,
    Rater,
    score_matrix,
)
from pipeline.quality.ratings import item_hash
from pipeline.quality.rubric import CRITERIA
from pipeline.seeds import rng_for
from tests.quality.judged import (
    checked_trip,
    judged_project,
    put_shard,
    rating,
    scores,
    sealed,
    verdict,
)

IDS = [f"t{number}" for number in range(8)]
SETTINGS = AgreeSettings(resamples=200, confidence=0.9)
MODELS = frozenset({("model", "model")})
ALL = frozenset({("person", "person"), ("model", "person"), ("model", "model")})


def rater(name: str, given: list[int | None], kind="model") -> Rater:
    """Return a rater that gives every criterion the same scores, one for each of the items."""
    columns = {code: pl.Series(given, dtype=pl.Int64) for code in CRITERIA}
    return Rater(name, kind, pl.DataFrame({"trip_id": IDS[: len(given)], **columns}))


def panel(*raters: Rater, kinds=MODELS, name="sample") -> Panel:
    return Panel(name, pl.Series("trip_id", IDS), list(raters), kinds)


def report(*panels: Panel, seed: int = 7) -> AgreementReport:
    return AgreementReport(panels, SETTINGS, seed=seed)


# ---- figures -------------------------------------------------------------------------------------


def test_scores_are_joined_by_trip_and_what_is_missing_is_nought():
    late = Rater("late", "model", rater("x", [5, 4, 3]).scores.reverse())
    matrix = score_matrix(panel(late, rater("some", [1, None])))
    assert matrix.shape == (8, 2, 10)
    assert matrix[:, 0, 0].tolist() == [5, 4, 3, 0, 0, 0, 0, 0]
    assert matrix[:, 1, 9].tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


def test_a_pair_is_measured_on_what_both_scored():
    found = report(panel(rater("a", [5, 5, 4, 1]), rater("b", [5, 4, 2, None])))
    (pair,) = (one for one in found.pairs if one["criterion"] == "caption_accuracy")
    assert (pair["first"], pair["second"], pair["items"]) == ("a", "b", 3)
    assert pair["exact"]["value"] == pytest.approx(1 / 3, abs=1e-4)
    assert pair["within_one"]["value"] == pytest.approx(2 / 3, abs=1e-4)
    # a: 4 once, 5 twice; b: 2, 4, 5 once each: near are 4-4, 4-5, 5-4, 5-5.
    assert pair["within_one_by_chance"]["value"] == pytest.approx(6 / 9, abs=1e-4)
    assert pair["confusion"][4] == [0, 0, 0, 1, 1]
    assert pair["confusion"][3] == [0, 1, 0, 0, 0]


def test_an_interval_holds_its_value_and_is_the_same_in_every_run():
    scored = panel(rater("a", [5, 5, 4, 1, 2, 3]), rater("b", [5, 4, 4, 2, 2, 5]))
    pair = report(scored).pairs[0]
    assert pair["exact"]["low"] <= pair["exact"]["value"] <= pair["exact"]["high"]
    assert pair == report(scored).pairs[0]
    assert pair != report(scored, seed=8).pairs[0]


def test_raters_that_never_vary_agree_as_chance_does_and_have_no_kappa_or_alpha():
    found = report(panel(rater("a", [5] * 8), rater("b", [5] * 8)))
    pair, group = found.pairs[0], found.groups[0]
    assert pair["within_one"]["value"] == pair["within_one_by_chance"]["value"] == 1.0
    undefined = {"value": None, "low": None, "high": None}
    assert pair["kappa"] == group["kappa"] == group["alpha"] == undefined


def test_a_group_is_the_mean_of_its_pairs():
    found = report(panel(rater("a", [5, 5]), rater("b", [5, 3]), rater("c", [1, 3])))
    group = next(one for one in found.groups if one["criterion"] == "queries_accuracy")
    # a-b: 5-5, 5-3: .5 within one; a-c: 0; b-c: 5-1, 3-3: .5.
    assert group["pairs"] == 3
    assert group["within_one"]["value"] == pytest.approx(1 / 3, abs=1e-4)


def test_kinds_are_compared_as_asked_for_and_not_otherwise():
    raters = [
        rater("H1", [5, 4], "person"), rater("H2", [5, 3], "person"), rater("m", [4, 4]),
        rater("rules", [5, 5], "rules"),
    ]  # fmt: skip
    kinds = frozenset({("person", "person"), ("model", "person")})
    found = report(panel(*raters, kinds=kinds, name="people"))
    assert {(one["kinds"], one["first"], one["second"]) for one in found.pairs} == {
        ("person-person", "H1", "H2"), ("model-person", "H1", "m"), ("model-person", "H2", "m"),
    }  # fmt: skip
    assert {one["kinds"] for one in found.groups} == {"person-person", "model-person"}


def test_alpha_is_of_the_groups_own_raters():
    raters = [rater("H1", [1, 5, 3], "person"), rater("H2", [1, 5, 3], "person"),
              rater("m", [5, 1, 1])]  # fmt: skip
    groups = report(panel(*raters, kinds=ALL)).groups
    alpha = {one["kinds"]: one["alpha"]["value"] for one in groups}
    assert alpha["person-person"] == 1.0
    assert alpha["model-person"] < 0


def test_means_and_histograms_are_those_of_table_13():
    found = report(panel(rater("a", [5, 5, 4, None])))
    mean = found.means[0]
    assert (mean["rater"], mean["items"], mean["histogram"]) == ("a", 3, [0, 0, 0, 1, 2])
    assert mean["mean"]["value"] == pytest.approx(14 / 3, abs=1e-4)


def test_one_rater_alone_has_means_and_nobody_to_agree_with():
    found = report(panel(rater("a", [5, 4])))
    assert (len(found.means), found.pairs, found.groups) == (10, [], [])


def test_two_who_share_no_trip_are_a_pair_without_any_figure():
    pair = report(panel(rater("a", [5, None]), rater("b", [None, 4]))).pairs[0]
    assert (pair["items"], pair["within_one"]["value"], pair["kappa"]["value"]) == (0, None, None)


def test_the_plots_show_chance_beside_what_was_observed():
    found = report(panel(rater("a", [5, 5]), rater("b", [5, 3])))
    rows = found.plot_of_agreement().filter(criterion="caption_accuracy").rows()
    assert rows == [
        ("caption_accuracy", "model-model observed", 0.5),
        ("caption_accuracy", "model-model by chance", 0.5),
    ]
    scores_of_b = found.plot_of_scores().filter(criterion="caption_accuracy", rater="b (sample)")
    assert scores_of_b["share"].to_list() == [0, 0, 0.5, 0, 0.5]


# ---- the stage -----------------------------------------------------------------------------------


def sampled_rows(*why: tuple[str, list[str], bool]) -> list[dict]:
    return [{"trip_id": one, "selected": taken, "score": 4.0, "why": reasons,
             "judge_milder": ["caption_accuracy"] if "judge_milder" in reasons else [],
             "judge_stricter": ["queries_accuracy"] if "judge_stricter" in reasons else []}
            for one, reasons, taken in why]  # fmt: skip


@pytest.fixture
def project(tmp_path):
    """Eight trips judged by G; six drawn and judged by P and the rules too."""
    trips = [checked_trip(one) for one in IDS]
    made = judged_project(tmp_path, [trips])
    rng = rng_for(7, "test", "scores")
    put_shard(made, "judged", [verdict(one, scores(int(rng.integers(3, 6))), model="G")
                               for one in IDS])  # fmt: skip
    drawn = sampled_rows(
        ("t0", ["sample", "people"], True), ("t1", ["sample", "people"], True),
        ("t2", ["sample"], True), ("t3", ["near_cut"], True), ("t4", ["near_cut"], False),
        ("t5", ["judge_milder"], False), ("t6", ["judge_stricter"], False),
    )  # fmt: skip
    made.put("sampled", drawn)
    rejudged = [verdict(row["trip_id"], scores(5), model="P") for row in drawn]
    rejudged[3:] = [verdict("t3", scores(4), model="P"), verdict("t4", scores(2), model="P"),
                    verdict("t5", scores(2), model="P"),
                    verdict("t6", scores(3), model="P")]  # fmt: skip
    rejudged += [verdict(row["trip_id"], scores(4)) for row in drawn]
    made.put("rejudged", msgspec.to_builtins(rejudged))
    return made


def rate(project, name: str, *ratings: dict) -> None:
    folder = project.root / "data/reviews/toy"
    folder.mkdir(exist_ok=True)
    lines = [json.dumps(one) for one in ratings]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def full(trip_id: str, name: str, score: int, **changes) -> list[dict]:
    """Return a person's ten ratings of a trip, as the review page writes them."""
    known = item_hash(checked_trip(trip_id))
    changes = {"item_hash": known} | changes
    return [rating(trip_id, name, code, score, **changes) for code in CRITERIA]


def test_models_are_compared_on_the_random_sample_alone(project):
    project.run("agree")
    record = project.record_of("agreement")
    assert record["trips"] == {"sample": 3, "people": 0}
    kinds = {(one["kinds"], one["first"], one["second"], one["items"]) for one in record["pairs"]}
    assert kinds == {("model-model", "G", "P", 3), ("model-rules", "G", "rules", 3),
                     ("model-rules", "P", "rules", 3)}  # fmt: skip
    assert {one["rater"]: one["kind"] for one in record["means"]} == {
        "G": "model", "P": "model", "rules": "rules",
    }  # fmt: skip


def test_without_people_their_lists_are_empty(project):
    project.run("agree")
    record = project.record_of("agreement")
    assert (record["ratings"], record["people"], record["ratings_rejected"]) == (0, [], {})
    assert {one["panel"] for one in record["means"]} == {"sample"}
    assert project.rows("ratings") == []


def test_people_are_compared_with_people_and_with_models(project):
    rate(project, "H1", *full("t0", "H1", 4), *full("t1", "H1", 5))
    rate(project, "H2", *full("t0", "H2", 4), *full("t1", "H2", 3))
    project.run("agree")
    record = project.record_of("agreement")
    assert record["trips"]["people"] == 2
    pairs = [one for one in record["pairs"] if one["criterion"] == "caption_accuracy"]
    people = next(one for one in pairs if one["kinds"] == "person-person")
    assert (people["items"], people["exact"]["value"], people["within_one"]["value"]) == (
        2, 0.5, 0.5,
    )  # fmt: skip
    with_models = {(one["first"], one["second"]) for one in pairs if one["kinds"] == "model-person"}
    assert with_models == {("H1", "G"), ("H1", "P"), ("H2", "G"), ("H2", "P")}
    group = next(one for one in record["groups"] if one["kinds"] == "model-person")
    assert group["pairs"] == 4


def test_two_peoples_figures_are_those_worked_out_by_hand(project):
    # The worked example of test_agreement.py: 5-5, 5-4, 3-4 and 1-2.
    for name, given in (("H1", (5, 5, 3, 1)), ("H2", (5, 4, 4, 2))):
        rate(project, name, *(one for number, score in enumerate(given)
                              for one in full(f"t{number}", name, score)))  # fmt: skip
    project.run("agree")
    record = project.record_of("agreement")
    pairs = [one for one in record["pairs"] if one["kinds"] == "person-person"]
    measures = ("exact", "within_one", "within_one_by_chance", "kappa")
    assert {tuple(one[name]["value"] for name in measures) for one in pairs} == {
        (0.25, 1.0, 0.625, 0.8125)
    }
    groups = [one for one in record["groups"] if one["kinds"] == "person-person"]
    assert {one["alpha"]["value"] for one in groups} == {round(1 - (19 / 8) / (632 / 56), 4)}


def test_what_people_left_out_is_counted(project):
    rate(project, "H1", *full("t0", "H1", 4), *full("t1", "H1", 5)[:3])
    rate(project, "H2", *full("t7", "H2", 4))
    project.run("agree")
    first, second = project.record_of("agreement")["people"]
    assert first == {"rater": "H1", "trips": 2, "ratings": 13, "missing": 7,
                     "seconds_per_trip": 30.0, "revealed": 0, "revised": 0}  # fmt: skip
    assert (second["rater"], second["trips"], second["missing"]) == ("H2", 1, 0)


def test_what_a_person_would_change_after_seeing_the_models_is_counted_and_not_measured(project):
    blind = full("t0", "H1", 4) + full("t1", "H1", 5)
    rate(project, "H1", *blind)
    rate(project, "H2", *full("t0", "H2", 2), *full("t1", "H2", 3))
    project.run("agree")
    before = project.record_of("agreement")
    shown = [sealed(one, revealed=True, revised=1) for one in blind[:10]] + blind[10:]
    rate(project, "H1", *shown)
    project.run("agree")
    after = project.record_of("agreement")
    assert (after["people"][0]["revealed"], after["people"][0]["revised"]) == (1, 10)
    assert [after[name] for name in ("means", "pairs", "groups")] == [
        before[name] for name in ("means", "pairs", "groups")
    ]
    assert [row["revised"] for row in project.rows("ratings")] == [1] * 10 + [None] * 30


def test_ratings_that_do_not_count_are_rejections(project):
    rate(project, "H1", *full("t0", "H1", 4), *full("t1", "H1", 4, item_hash="00" * 32),
         *full("t9", "H1", 4), *full("t2", "H1", 4, rubric_hash="0" * 16))  # fmt: skip
    project.run("agree")
    record = project.record_of("agreement")
    assert record["ratings"] == len(project.rows("ratings")) == 10
    assert record["ratings_rejected"] == {
        "other_rubric": 10, "other_texts": 10, "unknown_trip": 10,
    }  # fmt: skip
    assert len(project.rows("agree_rejected")) == 30


def test_both_sides_of_the_cut_are_told_for_every_judge(project):
    project.run("agree")
    cut = {one["judge"]: one for one in project.record_of("agreement")["near_cut"]}
    assert cut["P"] == {"judge": "P", "taken": {"trips": 1, "mean": 4.0},
                        "left_out": {"trips": 1, "mean": 2.0}}  # fmt: skip
    assert cut["rules"]["taken"] == cut["rules"]["left_out"] == {"trips": 1, "mean": 4.0}


def test_disagreements_are_told_for_every_judge(project):
    project.run("agree")
    found = {one["judge"]: one for one in project.record_of("agreement")["disagreements"]}
    assert found["P"] == {"judge": "P", "judge_milder": {"scores": 1, "mean": 2.0},
                          "judge_stricter": {"scores": 1, "mean": 3.0}}  # fmt: skip
    assert found["rules"] == {"judge": "rules", "judge_milder": {"scores": 1, "mean": 4.0},
                              "judge_stricter": {"scores": 1, "mean": 4.0}}  # fmt: skip


def test_the_stage_gives_the_same_bytes_in_every_run(project):
    names = ("ratings", "agreement", "agreement_plot", "ratings_plot", "agree_rejected")
    rate(project, "H1", *full("t0", "H1", 4))
    project.run("agree")
    first = project.bytes_of(*names)
    project.run("agree")
    assert project.bytes_of(*names) == first


def test_a_city_without_trips_has_an_empty_report(tmp_path):
    project = judged_project(tmp_path, [[]])
    put_shard(project, "judged", [])
    for name in ("sampled", "rejudged"):
        project.put(name, [])
    project.run("agree")
    record = project.record_of("agreement")
    assert record["means"] == record["pairs"] == record["groups"] == []
    assert record["near_cut"] == record["disagreements"] == []
