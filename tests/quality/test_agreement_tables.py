"""Agreement is told as the paper's Tables 13 and 14 tell it."""

from typing import Any

import polars as pl
import pytest

from pipeline.quality.agreement_report import AgreementReport, AgreeSettings, Panel, Rater
from pipeline.quality.agreement_tables import (
    agreement_tables,
    groups_of,
    mean_scores,
    names_of,
)
from pipeline.quality.rubric import CRITERIA, TASKS

IDS = ["t0", "t1", "t2", "t3"]
ALL = frozenset({("person", "person"), ("model", "person"), ("model", "model")})


def rater(name: str, given: list[int | None], kind="model", **others: list[int | None]) -> Rater:
    """Return a rater with one score an item for every criterion but those given otherwise."""
    columns = {code: pl.Series(others.get(code, given), dtype=pl.Int64) for code in CRITERIA}
    return Rater(name, kind, pl.DataFrame({"trip_id": IDS, **columns}))


def record(*raters: Rater, panel="sample", kinds=ALL) -> dict[str, Any]:
    settings = AgreeSettings(resamples=100, confidence=0.95)
    panels = [Panel(panel, pl.Series("trip_id", IDS), list(raters), kinds)]
    report = AgreementReport(panels, settings, seed=7)
    return {
        "confidence": 0.95, "trips": {"sample": 4, "people": 4}, "means": report.means,
        "pairs": report.pairs, "groups": report.groups,
    }  # fmt: skip


MODELS = (
    rater("long/name-of-a", [5, 4, 5, 4], caption_accuracy=[1, 1, 1, 1]),
    rater("long/name-of-b", [5, 4, 3, 4], caption_accuracy=[None] * 4),
)


def column(table, head: str) -> dict[str, str]:
    place, found, task = table.heads.index(head), {}, ""
    for row in table.rows:
        name = row[0].strip()
        task = name if name in TASKS else task
        found[name if name == "Mean" else f"{task}: {name}"] = row[place]
    return found


def test_means_are_a_row_a_criterion_and_a_column_a_judge_with_the_mean_below():
    table = agreement_tables(record(*MODELS))[0]
    assert table.title == ("Mean scores, 1 to 5, with intervals of 95 %: sample of 4 trips")
    assert table.heads == ["criterion", "A", "B"]
    assert [row[0] for row in table.rows][:3] == ["instructions", "  correctness",
                                                  "  no hallucination"]  # fmt: skip
    first, second = column(table, "A"), column(table, "B")
    assert first["queries: accuracy"].startswith("4.50 [4.")
    assert first["caption: accuracy"] == "1.00 [1.00, 1.00]"
    assert second["caption: accuracy"] == "-"
    assert first["Mean"] == "4.15"  # nine of 4.5 and one of 1
    assert second["Mean"] == "4.00"  # of the nine that it scored


def test_letters_stand_for_models_and_people_keep_their_codes():
    told = record(*MODELS, rater("H1", [5, 5, 5, 5], "person"), panel="people")
    assert names_of(told) == {"A": "long/name-of-a", "B": "long/name-of-b"}
    table = agreement_tables(told)[0]
    assert table.heads == ["criterion", "A", "B", "H1"]
    assert table.title.endswith("4 trips that people rated")


def test_a_pair_is_told_with_chance_kappa_alpha_and_intervals():
    _, table = agreement_tables(record(*MODELS))
    assert table.title.startswith("Agreement of models with models, A - B, with intervals of 95 %")
    assert table.heads == ["criterion", "within 1", "by chance", "weighted kappa", "alpha"]
    within = column(table, "within 1")
    # Scores 5-5, 4-4, 5-3, 4-4: three of four within one.
    assert within["queries: accuracy"].startswith("75.0% [")
    assert within["Mean"] == "75.0%"
    # First 5, 4 half each; second 5, 4, 3: 1/4, 1/2, 1/4. Apart by more than one: 5-3, 1/8.
    assert column(table, "by chance")["queries: accuracy"].startswith("87.5% [")
    # Squared distances of the pairs, and of each score of the one with each of the other.
    apart = [0, 0, 4, 0]
    chance = [(a - b) ** 2 for a in (5, 4, 5, 4) for b in (5, 4, 3, 4)]
    kappa = 1 - (sum(apart) / 4) / (sum(chance) / 16)
    assert column(table, "weighted kappa")["queries: accuracy"].startswith(f"{kappa:.2f} [")
    assert column(table, "alpha")["caption: accuracy"] == "-"


def test_a_few_pairs_are_told_each_and_many_by_their_mean():
    third = rater("c", [5, 4, 5, 4])
    tables = agreement_tables(record(*MODELS, third))
    assert [table.heads[1:] for table in tables[2:]] == [["A - B", "A - C", "B - C"]] * 3
    assert "mean of 3 pairs" in tables[1].title
    assert column(tables[2], "A - C")["Mean"] == "90.0%"  # all but caption accuracy
    people = [rater(f"H{number}", [5, 4, 5, 4], "person") for number in (1, 2)]
    told = agreement_tables(record(*MODELS, *people, kinds=frozenset({("model", "person")})))
    assert [table.heads for table in told[1:]] == [
        ["criterion", "within 1", "by chance", "weighted kappa", "alpha"]
    ]
    assert "models with people, mean of 4 pairs" in told[1].title


def test_one_judge_has_means_and_nobody_has_nothing():
    assert len(agreement_tables(record(MODELS[0]))) == 1
    assert agreement_tables({"means": [], "pairs": [], "groups": []}) == []


def test_the_figures_in_short_are_the_rows_of_means():
    told = record(*MODELS)
    scores = mean_scores(told, "sample")
    assert scores["long/name-of-a"]["mean"] == pytest.approx(4.15)
    assert scores["long/name-of-b"]["caption_accuracy"] is None
    (group,) = groups_of(told)
    assert (group.panel, group.kinds, group.pairs) == ("sample", "model-model", 1)
    assert group.means["within_one"] == pytest.approx(0.75)


def test_many_judges_are_told_in_a_table_of_people_and_one_of_models():
    people = [rater(f"H{number}", [5, 4, 5, 4], "person") for number in (1, 2, 3)]
    told = record(*people, *MODELS, panel="people", kinds=frozenset())
    assert [table.heads[1:] for table in agreement_tables(told)] == [["H1", "H2", "H3"], ["A", "B"]]
