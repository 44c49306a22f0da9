"""Retrieval of a small town is scored as by hand, and everything wrong in a file is counted."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline.errors import ContractError, SourceError
from pipeline.tasks.measure import Scored
from pipeline.tasks.predictions import Matched, matched, read_predictions
from pipeline.tasks.ranking import COLUMNS, FIRST_RANKS
from pipeline.tasks.released import Release, open_release
from pipeline.tasks.retrieval import Gains, RetrievalScorer, searches_of
from pipeline.tasks.retrieval_floors import retrieval_references
from tests.tasks.town import Trip, write_release

# Of the town of 5 x 5 nodes; b and c drive the same, d shares its beginning with a.
TRIPS = [
    Trip("a", "test", (0, 1, 2, 3, 4), ("1.1", "2.1", "1.1")),
    Trip("b", "test", (40, 41, 42, 43), ("4.2",)),
    Trip("c", "test", (40, 41, 42, 43)),
    Trip("d", "test", (0, 1, 2, 12, 22, 32)),
    Trip("k", "train", (40, 41, 42, 43)),
    Trip("v", "val", (4, 3, 2, 1)),
]
QUERIES = ("1", "2", "3")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = write_release(tmp_path_factory.mktemp("town") / "release", TRIPS)
    file = folder / "retrieval/test.parquet"
    # The town names no routes that several drive.
    table = pl.read_parquet(file)
    twins = {"b": ["c"], "c": ["b"]}
    fields = [
        pl.col("target").struct.field(name)
        for name in ("trip_id", "edge_ids", "t_enter_s", "cells", "cell_edges")
    ]
    same = pl.Series("same_route", [twins.get(one, []) for one in table["trip_id"]])
    return _WithTwins(open_release(folder), table.with_columns(target=pl.struct(same, *fields)))


class _WithTwins(Release):
    """A release whose test queries have other targets."""

    def __init__(self, release: Release, queries: pl.DataFrame) -> None:
        super().__init__(release.folder, release.city)
        self._queries = queries

    def instances(self, task: str, split: str) -> pl.DataFrame:
        table = super().instances(task, split)
        return self._queries if (task, split) == ("retrieval", "test") else table


def query(trip: str, number: str = "1") -> str:
    return f"toy/{trip}/retrieval/{number}"


def written(folder: Path, answers: dict[str, dict[str, Any]]) -> Path:
    file = folder / "ranks.jsonl"
    rows = [{"instance_id": one, **answer} for one, answer in answers.items()]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def found(release: Release, folder: Path, answers: dict[str, dict[str, Any]]) -> Matched:
    file = written(folder, answers)
    return matched(release, "retrieval", "test", read_predictions(file, "retrieval"), file=file)


def scored(release: Release, folder: Path, answers: dict[str, dict[str, Any]]) -> Scored:
    some = found(release, folder, answers)
    return RetrievalScorer(release, "test", near=0.8).scored(some)


def row(result: Scored, instance: str) -> dict[str, Any]:
    return result.rows.row(by_predicate=pl.col("instance_id") == instance, named=True)


def overlap(release: Release, one: str, other: str) -> float:
    pool = dict(release.candidates("test").select("trip_id", "cells").rows())
    a, b = set(pool[one]), set(pool[other])
    return len(a & b) / len(a | b)


def test_a_ranking_is_scored_against_the_trip_and_its_cells(release, tmp_path):
    near = overlap(release, "a", "d")
    assert 0 < near < 0.8
    answers = {query("a"): {"trip_ids": ["d", "b", "a"]}}
    result = scored(release, tmp_path, answers)
    one = row(result, query("a"))
    assert one["status"] == "ok"
    assert (one["recall_at_1"], one["recall_at_5"], one["mrr"]) == (0, 1, pytest.approx(1 / 3))
    assert (one["jaccard_best_at_1"], one["jaccard_best_at_5"]) == (near, 1)
    assert one["jaccard_mean_at_5"] == pytest.approx((near + 1) / 5)
    assert [column.name for column in result.measures] == list(COLUMNS)


def test_every_query_has_a_row_and_what_is_missing_is_0(release, tmp_path):
    result = scored(release, tmp_path, {query("a"): {"trip_ids": ["a"]}})
    assert result.rows.height == 12
    assert result.rows["recall_at_1"].sum() == 1
    assert result.coverage == (12, 1, 11, {}, 0)
    assert row(result, query("b"))["status"] == "missing"
    assert set(result.rows.filter(status="missing").select(COLUMNS).unique().row(0)) == {0.0}
    assert result.rows.select(COLUMNS).null_count().sum_horizontal().item() == 0


def test_a_trip_that_drives_the_same_is_a_twin_and_no_hit(release, tmp_path):
    one = row(scored(release, tmp_path, {query("b"): {"trip_ids": ["c"]}}), query("b"))
    assert (one["recall_at_50"], one["mrr"]) == (0, 0)
    assert (one["recall_any_twin_at_1"], one["jaccard_best_at_1"]) == (1, 1)
    other = row(scored(release, tmp_path, {query("a"): {"trip_ids": ["d"]}}), query("a"))
    assert other["recall_any_twin_at_50"] == 0


def test_equal_scores_are_tied_whatever_the_order(release, tmp_path):
    for order in (["a", "d", "b"], ["b", "d", "a"]):
        answers = {query("a"): {"trip_ids": order, "scores": [0.5, 0.5, 0.5]}}
        one = row(scored(release, tmp_path, answers), query("a"))
        assert one["recall_at_1"] == pytest.approx(1 / 3)
        assert one["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_scores_sort_a_list_and_queries_without_them_keep_their_order(release, tmp_path):
    answers = {
        query("a"): {"trip_ids": ["b", "d", "a"], "scores": [-2, 3, 7.5]},
        query("a", "2"): {"trip_ids": ["b", "d", "a"]},
    }
    result = scored(release, tmp_path, answers)
    assert [row(result, one)["mrr"] for one in answers] == [1, pytest.approx(1 / 3)]


def test_an_unknown_trip_takes_its_rank_and_is_counted(release, tmp_path):
    """One of another split is unknown to the pool, and so is none at all."""
    answers = {
        query("a"): {"trip_ids": ["nowhere", "a"]},
        query("a", "2"): {"trip_ids": ["k", "a"]},
        query("a", "3"): {"trip_ids": [None, None, "a"]},
        query("d"): {"trip_ids": ["nowhere", "d"]},
    }
    result = scored(release, tmp_path, answers)
    assert [row(result, one)["mrr"] for one in answers] == pytest.approx(
        [1 / 2, 1 / 2, 1 / 3, 1 / 2]
    )
    assert row(result, query("d"))["recall_any_twin_at_1"] == 0
    assert result.coverage.invalid == {"unknown_trip_ids": 4}


def test_what_is_no_ranking_is_wrong_and_counted(release, tmp_path):
    answers = {
        query("a"): {"trip_ids": []},
        query("b"): {"trip_ids": None},
        query("c"): {"trip_ids": ["c", "b"], "scores": [1.0]},
        query("d"): {"trip_ids": ["d", "b"], "scores": [1.0, math.nan]},
        query("d", "2"): {"trip_ids": ["d"], "scores": [1.0]},
    }
    result = scored(release, tmp_path, answers)
    assert result.coverage.invalid == {"no_trip_ids": 2, "scores_do_not_fit": 2}
    assert [row(result, one)["recall_at_50"] for one in answers] == [0, 0, 0, 0, 1]


def test_the_same_trip_twice_is_refused(release, tmp_path):
    file = written(tmp_path, {query("a"): {"trip_ids": ["b", None, "d", None, "a", "d"]}})
    scorer, predictions = (
        RetrievalScorer(release, "test", near=0.8),
        read_predictions(file, "retrieval"),
    )
    with pytest.raises(SourceError, match=r"ranks.jsonl.*found d twice for toy/a/retrieval/1"):
        scorer.score(predictions, file=file)


def test_a_query_whose_trip_is_not_in_the_pool_is_a_fault_of_the_release(release):
    pool = release.candidates("test").filter(pl.col("trip_id") != "b")
    with pytest.raises(ContractError, match="expected trip b, which toy/b/retrieval/1 looks for"):
        searches_of(release.instances("retrieval", "test"), pool)


def test_a_split_without_queries_is_refused(tmp_path):
    town = open_release(write_release(tmp_path / "town", TRIPS[:-1]))
    with pytest.raises(SourceError, match=r"retrieval/val.parquet: expected instances, found none"):
        RetrievalScorer(town, "val", near=0.8)


def test_predictions_of_other_splits_are_counted_and_left_out(release, tmp_path):
    answers = {query("a"): {"trip_ids": ["a"]}, query("v"): {"trip_ids": ["v"]}}
    file = written(tmp_path, answers)
    result = RetrievalScorer(release, "test", near=0.8).score(
        read_predictions(file, "retrieval"), file=file
    )
    assert (result.coverage.predicted, result.coverage.other) == (1, 1)


def test_groups_are_scenario_dimension_known_route_and_twins(release, tmp_path):
    result = scored(release, tmp_path, {query("a"): {"trip_ids": ["a"]}})
    assert list(result.groups) == ["scenario", "dimension", "known_route", "same_route"]
    a, b = row(result, query("a")), row(result, query("b", "3"))
    assert (a["scenario"], a["known_route"], a["same_route"]) == (["1.1", "2.1"], "new", "alone")
    assert (b["scenario"], b["known_route"], b["same_route"]) == (["4.2"], "exact", "shared")
    assert a["dimension"] == ["2"]  # as drawn for the query


# ---- floors and ceilings -----------------------------------------------------------------------


@pytest.fixture
def floors(release, tmp_path) -> dict[str, Scored]:
    perfect = {query(t, n): {"trip_ids": [t]} for t in "abcd" for n in QUERIES}
    return references(RetrievalScorer(release, "test", near=0.8), found(release, tmp_path, perfect))


def references(scorer: RetrievalScorer, some: Matched) -> dict[str, Scored]:
    return {one.name: one.scored for one in retrieval_references(scorer, some, seed=7)}


def means(result: Scored) -> dict[str, float]:
    return result.rows.select(pl.col(COLUMNS).mean()).row(0, named=True)


def test_chance_by_hand(floors, release):
    """Four trips: each is at rank 1, 2, 3 or 4 in a quarter of all orders."""
    chance = means(floors["chance"])
    assert chance["recall_at_1"] == pytest.approx(1 / 4)
    assert chance["recall_at_5"] == 1
    assert chance["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert chance["recall_any_twin_at_1"] == pytest.approx((1 + 2 + 2 + 1) / 16)
    pairs = [overlap(release, one, other) for one in "abcd" for other in "abcd"]
    assert chance["jaccard_best_at_1"] == pytest.approx(np.mean(pairs))
    assert chance["jaccard_mean_at_5"] == pytest.approx(4 * np.mean(pairs) / 5)


def test_the_truth_first_is_a_ceiling(floors):
    top, chance = means(floors["truth_first"]), means(floors["chance"])
    for name in COLUMNS:
        assert top[name] >= chance[name] - 1e-12
        if not name.startswith("jaccard_mean"):
            assert top[name] == 1
    assert top["jaccard_mean_at_5"] == pytest.approx(chance["jaccard_mean_at_5"])  # the whole pool


def test_the_text_of_another_trip_finds_that_trip(floors):
    """A perfect model answers with the next trip of a circle: never the trip itself."""
    other = floors["other_text"].rows
    assert other["recall_at_50"].sum() == 0
    # Each trip is found by the queries of one other: b for c or c for b at most.
    assert 0 <= other["recall_any_twin_at_1"].sum() <= 6
    assert other["jaccard_best_at_1"].mean() < 1


def test_floors_have_a_row_for_every_query(floors):
    assert list(floors) == ["chance", "other_text", "truth_first"]
    for one in floors.values():
        assert (one.rows.height, one.coverage.missing) == (12, 0)
        assert one.rows.columns == floors["chance"].rows.columns


# ---- gains -------------------------------------------------------------------------------------


def test_gains_add_ndcg(release, tmp_path):
    """The trip meets all, d a half; the third query of each trip has nothing to be met."""
    worth = np.array([[1.0, 0.0, 0.0, 0.5]])  # of a, b, c, d
    ideal = np.zeros((12, FIRST_RANKS))
    ideal[:, :2] = [1.0, 0.5]
    ideal[2::3] = np.nan
    table = np.repeat(worth, 12, axis=0)
    table[2::3] = np.nan
    gains = Gains(lambda q, c: table[q, c], ideal, table.mean(axis=1))
    answers = {query("a", n): {"trip_ids": ["d", "nowhere", "a"]} for n in QUERIES}
    some = found(release, tmp_path, answers)
    scorer = RetrievalScorer(release, "test", near=0.8, gains=gains)
    result = scorer.scored(some)
    discounts = [1, 1 / math.log2(3), 1 / 2]
    assert row(result, query("a"))["ndcg_at_10"] == pytest.approx(
        (0.5 * discounts[0] + 1.0 * discounts[2]) / (1 + 0.5 * discounts[1])
    )
    assert row(result, query("a", "3"))["ndcg_at_10"] is None
    assert result.measures[-1].name == "ndcg_at_10"
    chance = row(references(scorer, some)["chance"], query("b"))["ndcg_at_10"]
    all_four = sum(1 / math.log2(rank + 1) for rank in range(1, 5))
    assert chance == pytest.approx(0.375 * all_four / (1 + 0.5 * discounts[1]))


def test_the_route_of_twins_is_the_least_of_their_numbers(release):
    searches = searches_of(release.instances("retrieval", "test"), release.candidates("test"))
    assert searches.targets.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert searches.routes.tolist() == [0, 1, 1, 3]


def test_twins_need_not_be_queries_themselves():
    pool = pl.DataFrame({"trip_id": [*"abcd"], "cells": [["x"]] * 4})
    target = {"trip_id": "c", "same_route": ["b", "d"]}
    instances = pl.DataFrame({"instance_id": ["q"], "target": [target]})
    assert searches_of(instances, pool).routes.tolist() == [0, 1, 1, 1]


def test_a_split_of_one_trip_has_no_other_text(tmp_path):
    town = open_release(write_release(tmp_path / "town", TRIPS[-2:] + TRIPS[:1]))
    some = found(town, tmp_path, {query("a"): {"trip_ids": ["a"]}})
    scorer = RetrievalScorer(town, "test", near=0.8)
    assert list(references(scorer, some)) == ["chance", "truth_first"]
