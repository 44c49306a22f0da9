"""Retrieval baselines: complete, deterministic, blind to answers, and right where it is easy."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.errors import SourceError
from pipeline.tasks.baselines import MODELS
from pipeline.tasks.baselines.latent import LatentSpace, words_and_pairs
from pipeline.tasks.baselines.retrieval import DEPTH, TextModel, nearest
from pipeline.tasks.baselines.semantic import CellVectors, cell_texts
from pipeline.tasks.predictions import read_predictions
from pipeline.tasks.reference.contrast import ContrastSettings
from pipeline.tasks.reference.sem import SemModel
from pipeline.tasks.released import Release, open_release
from pipeline.tasks.retrieval import RetrievalScorer
from tests.tasks.town import Trip, write_release

SHORT = SemModel(settings=ContrastSettings(width=8, hidden=8, epochs=2))
ALL = (*MODELS["retrieval"], SHORT)


def _corner(row: int, column: int) -> Trip:
    """Drive east along a row, then along a column to its far end: no other trip has both."""
    along = [10 * row + step for step in range(column + 1)]
    rows = range(row + 1, 5) if row < 2 else range(row - 1, -1, -1)
    split = "test" if (row + column) % 2 else "train"
    return Trip(f"t{row}{column}", split, [*along, *(10 * other + column for other in rows)])


CORNERS = [_corner(row, column) for row in range(5) for column in range(1, 5)]


def _rewrite(folder: Path, table: str, split: str, change) -> None:
    file = folder / table / f"{split}.parquet"
    found = pl.read_parquet(file)
    rows = [change(row) for row in found.to_dicts()]
    pl.DataFrame(rows, schema=found.schema, orient="row").write_parquet(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a release whose queries name the first and the last street of their trip."""
    folder = write_release(tmp_path_factory.mktemp("town") / "toy", CORNERS)

    def asked(row):
        first, last = (row["target"]["edge_ids"][k].split(":")[0] for k in (0, -1))
        return row | {"input": {"query": f"Trips from Street {first} to Street {last}."}}

    for split in ("train", "test"):
        _rewrite(folder, "retrieval", split, asked)
    return folder


@pytest.fixture(scope="module")
def release(folder) -> Release:
    return open_release(folder)


@pytest.fixture(scope="module")
def view(release):
    return release.for_models("retrieval")


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_every_query_gets_the_whole_pool_once_in_falling_order(model, release, view, tmp_path):
    found = model.predict(view, "test")
    pool = set(release.candidates("test")["trip_id"])
    assert found["instance_id"].to_list() == (
        release.instances("retrieval", "test")["instance_id"].to_list()
    )
    for trips, scores in found.select("trip_ids", "scores").iter_rows():
        assert len(trips) == len(scores) == min(DEPTH, len(pool))
        assert set(trips) == pool
        assert scores == sorted(scores, reverse=True)
    file = tmp_path / "found.parquet"
    found.write_parquet(file)
    scored = RetrievalScorer(release, "test", near=0.8).score(
        read_predictions(file, "retrieval"), file=file
    )
    assert set(scored.rows["status"]) == {"ok"}


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_a_split_without_trips_is_answered_by_nothing(model, view):
    assert model.predict(view, "val").is_empty()


def _nonsense(value):
    if isinstance(value, dict):
        return {key: _nonsense(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_nonsense(inner) for inner in value]
    return "nonsense" if isinstance(value, str) else None


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_answers_of_val_and_test_change_no_byte(model, folder, view, tmp_path):
    # Every task tells of the same trips: none of their answers may help another.
    blind = tmp_path / "blind"
    write_release(blind, CORNERS)
    for table in ("retrieval", "generation", "captioning"):
        for split in ("train", "test"):
            rows = pl.read_parquet(folder / table / f"{split}.parquet")
            rows.write_parquet(blind / table / f"{split}.parquet")
        shown = {"instance_id", "input", "city", "split"} if table == "retrieval" else {"city"}
        _rewrite(
            blind, table, "test",
            lambda row, shown=shown: {k: v if k in shown else _nonsense(v) for k, v in row.items()},
        )  # fmt: skip
    hidden = pl.read_parquet(blind / "retrieval/test.parquet")
    assert set(hidden["target"].struct.field("trip_id")) == {"nonsense"}
    told = model.predict(view, "test").write_ndjson()
    assert model.predict(open_release(blind).for_models("retrieval"), "test").write_ndjson() == told


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_the_order_of_the_pool_decides_nothing(model, view, monkeypatch):
    expected = model.predict(view, "test").write_ndjson()
    pool = view.pool
    monkeypatch.setattr(
        view, "pool", lambda split: pool(split).reverse() if split == "test" else pool(split)
    )
    assert model.predict(view, "test").write_ndjson() == expected


@pytest.mark.parametrize("model", MODELS["retrieval"][:3], ids=lambda model: model.name)
def test_the_only_trip_on_both_streets_ranks_first(model, release, view):
    instances = release.instances("retrieval", "test")
    first = model.predict(view, "test")["trip_ids"].list.first()
    assert first.to_list() == instances["trip_id"].to_list()


def test_the_same_seed_is_the_same_space():
    texts = ["a b c", "b c d", "c d e a", "d e a b b", "e a"]
    one, other = (
        LatentSpace.fitted(texts, weighted=True, seed=1).vectors(["a b"]) for _ in range(2)
    )
    assert one.tobytes() == other.tobytes()
    assert math.isclose(float(np.linalg.norm(one)), 1)


def test_words_are_folded_and_pairs_are_words():
    assert words_and_pairs("To Lönnrotinkatu 5.") == [
        "to", "lonnrotinkatu", "5", "to lonnrotinkatu", "lonnrotinkatu 5",
    ]  # fmt: skip


def test_a_text_of_unknown_words_is_a_vector_of_zeros():
    space = LatentSpace.fitted(["a b", "b c"], weighted=False, seed=0)
    assert not space.vectors(["x y"]).any()
    assert space.vectors([]).shape[0] == 0


@pytest.mark.parametrize("texts", [[], ["a b"], ["a", "a"]])
def test_too_little_to_fit_on_is_told(texts):
    with pytest.raises(SourceError, match="to fit on"):
        LatentSpace.fitted(texts, weighted=True, seed=0)


def test_a_release_without_train_is_told(tmp_path):
    trips = [trip for trip in CORNERS if trip.split == "test"]
    view = open_release(write_release(tmp_path / "toy", trips)).for_models("retrieval")
    for model in (TextModel("tfidf_svd", weighted=True), SHORT):
        with pytest.raises(SourceError, match="trips in train"):
            model.predict(view, "test")


@settings(max_examples=30, deadline=None)
@given(
    arrays(float, (3, 4), elements=st.integers(-3, 3)),
    arrays(float, (6, 4), elements=st.integers(-3, 3)),
)
def test_nearest_is_the_order_of_cosines_then_of_ids(queries, pool):
    ids = pl.Series(["d", "b", "f", "a", "c", "e"])
    found = nearest(pl.Series(["q0", "q1", "q2"]), queries, ids, pool)
    for query, trips, scores in zip(queries, found["trip_ids"], found["scores"], strict=True):
        cosines = {}
        for trip, vector in zip(ids, pool, strict=True):
            lengths = math.sqrt(query @ query) * math.sqrt(vector @ vector)
            cosines[trip] = round(query @ vector / lengths, 6) if lengths else 0.0
        order = sorted(ids, key=lambda trip: (-cosines[trip], trip))
        assert scores.to_list() == pytest.approx([cosines[trip] for trip in order], abs=2e-6)
        best = max(cosines.values())
        assert cosines[trips[0]] == pytest.approx(best, abs=2e-6)
        assert sorted(trips) == sorted(ids)


class Letters:
    """An encoder that counts letters: two numbers, how many a and how many b."""

    model, revision = "letters", "0"

    def embed(self, texts):
        return np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)


def test_the_vector_of_a_path_is_the_mean_over_its_phases():
    texts = pl.DataFrame({"cell": ["x", "y"], "text": ["aaaa", "bb"]})
    areas = CellVectors(texts, Letters())
    paths = pl.Series([["x", "y", "x", "y"], ["x"], ["unknown"], []], dtype=pl.List(pl.String))
    assert areas.means(paths).tolist() == [[2, 1], [4, 0], [0, 0], [0, 0]]
    assert areas.with_ends(paths)[0].tolist() == [4, 0, 2, 1, 0, 2]


def test_a_cell_is_told_by_its_roads_the_longest_first_and_its_description():
    roads = pl.DataFrame({
        "edge_id": ["1", "2", "3", "4"], "name": ["Rua B", "Rua A", "Rua B", None],
        "length_m": [30.0, 50.0, 30.0, 5.0],
    })  # fmt: skip
    on = pl.DataFrame({"edge_id": ["1", "2", "3", "4"], "cell": ["x", "x", "x", "y"]})
    cells = pl.DataFrame({"cell": ["x", "y"], "description": ["GNN: PARK | District: C", ""]})
    assert cell_texts(roads, on, cells).rows() == [
        ("x", "Roads: Rua B, Rua A | GNN: PARK | District: C"), ("y", ""),
    ]  # fmt: skip
