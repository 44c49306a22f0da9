"""Shared routes are counted as a brute force counts them."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.release.figures import scored_sharing_figures, sharing_figures
from pipeline.release.routes import routes_of, same_route_ids, shared_routes, twins_of

ROUTES = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=12)


def trips(routes: list[list[str]]) -> pl.DataFrame:
    """Build trips; the cell of a segment is c for a, b, c and f for the others."""
    cells = [["c" if edge in "abc" else "f" for edge in route] for route in routes]
    text = pl.List(pl.String)
    ids = [f"t{number:02d}" for number in range(len(routes))]
    return pl.DataFrame(
        {"trip_id": ids, "edge_ids": routes, "cells": cells},
        schema={"trip_id": pl.String, "edge_ids": text, "cells": text},
    )


def shared(test: pl.DataFrame, train: pl.DataFrame, *, near: float) -> dict[str, int]:
    return shared_routes(routes_of(test), routes_of(train), near=near)


def jaccard(one: list[str], other: list[str]) -> Fraction:
    either = set(one) | set(other)
    return Fraction(len(set(one) & set(other)), len(either)) if either else Fraction(0)


def test_same_segments_same_cells_and_near_are_told_apart():
    train = trips([list("abcde"), list("f")])
    test = trips([list("abcde"), list("bacde"), list("abcd"), list("abdef"), list("ab")])
    assert shared(test, train, near=0.8) == {
        "trips": 5,
        "same_segments": 1,
        "same_cells": 2,  # abcde and bacde: ccc ff
        "near": 3,  # abcde 1, bacde 1, abcd 4/5; abdef 4/6, ab 2/5
    }


def test_the_threshold_itself_is_near():
    assert shared(trips([list("abcd")]), trips([list("abcde")]), near=0.8)["near"] == 1
    assert shared(trips([list("abcd")]), trips([list("abcde")]), near=0.81)["near"] == 0


def test_val_and_test_are_held_to_one_another_and_each_to_train():
    routes = {"train": ["abcd"], "val": ["abcd", "ef"], "test": ["ef", "ef", "f"]}
    tables = [
        trips([list(route) for route in some]).with_columns(split=pl.lit(split))
        for split, some in routes.items()
    ]
    traits = pl.concat(tables)
    traits = traits.select("split").hstack(routes_of(traits))
    known = sharing_figures(traits, near=0.8)
    assert {split: known[split]["same_segments"] for split in ("val", "test")} == {
        "val": 1, "test": 0,
    }  # fmt: skip
    assert scored_sharing_figures(traits, near=0.5) == {
        "val": {"trips": 2, "same_segments": 1, "same_cells": 1, "near": 1},  # ef of test
        "test": {"trips": 3, "same_segments": 2, "same_cells": 2, "near": 3},  # f: half of ef
    }


@pytest.mark.parametrize("routes", [[], [list("ab")]])
def test_empty_splits_share_nothing(routes):
    for one, other in ((trips(routes), trips([])), (trips([]), trips(routes))):
        counts = shared(one, other, near=0.8)
        assert counts == {"trips": one.height, "same_segments": 0, "same_cells": 0, "near": 0}


@given(ROUTES, ROUTES, st.sampled_from(["1/10", "1/4", "1/3", "1/2", "2/3", "4/5", "1"]))
def test_the_counts_are_those_of_a_brute_force(test, train, limit):
    near = Fraction(limit)
    found = shared(trips(test), trips(train), near=float(near))
    assert found["same_segments"] == sum(route in train for route in test)
    assert found["near"] == sum(
        any(jaccard(route, known) >= near for known in train) for route in test
    )


@given(ROUTES)
def test_the_others_on_the_same_route_are_named(routes):
    pool = trips(routes)
    twins = twins_of(pool.select("trip_id").hstack(routes_of(pool)))
    found = same_route_ids(pool, twins).to_list()
    for number, route in enumerate(routes):
        others = [f"t{n:02d}" for n, one in enumerate(routes) if one == route and n != number]
        assert found[number] == others
