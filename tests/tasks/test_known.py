"""Known routes: the same segments, most of them, or none, and the counts of the release."""

import polars as pl

from pipeline.release.routes import routes_of, shared_routes
from pipeline.tasks.known import known_routes


def trips(**routes: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"trip_id": list(routes), "edge_ids": list(routes.values())},
        schema={"trip_id": pl.String, "edge_ids": pl.List(pl.String)},
    ).with_columns(cells="edge_ids")


def segments(first: int, last: int) -> list[str]:
    return [f"s{n}" for n in range(first, last)]


def test_same_near_and_new():
    train = trips(a=segments(0, 10), b=segments(50, 60))
    asked = trips(
        same=segments(0, 10),
        at_the_limit=segments(0, 8),  # 8 of 10
        below=segments(0, 7),
        turned=segments(0, 10)[::-1],  # all segments, in another order
        other=segments(30, 40),
    )
    found = known_routes(asked, train)
    assert found.rows() == [
        ("same", "same"), ("at_the_limit", "near"), ("below", "new"), ("turned", "near"),
        ("other", "new"),
    ]  # fmt: skip
    counts = shared_routes(routes_of(asked), routes_of(train), near=0.8)
    assert counts["same_segments"] == 1
    assert counts["near"] == 3  # the release counts the same among the near


def test_without_train_all_are_new_and_without_trips_there_is_no_row():
    assert known_routes(trips(a=["s1"]), trips())["known_route"].to_list() == ["new"]
    assert known_routes(trips(), trips(a=["s1"])).rows() == []
