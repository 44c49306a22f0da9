"""When the path of a case counts as right."""

import polars as pl
import pytest

from bench.cases import right

ROUTE = ["7:f0", "7:f1", "7:f2"]


def judged(case: str, route: list[str], edges: list[str], parts: str = "") -> bool:
    truth = pl.DataFrame({"trace_id": ["x"], "case": [case], "route": [route]})
    path = pl.DataFrame({
        "trace_id": ["x"] * len(edges), "part": [int(p) for p in parts or "0" * len(edges)],
        "edge_id": pl.Series(edges, dtype=pl.String),
    }, schema_overrides={"trace_id": pl.String})  # fmt: skip
    return right(truth, path)["right"].item()


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (ROUTE, True),
        (["7:ramp", *ROUTE], True),
        (["7:f0", "7:m1", "7:f1", "7:f2"], False),
        (["7:f0", "7:m1'", "7:f1", "7:f2"], False),
        (["7:f0", "7:f2"], False),
        ([], False),
    ],
)
def test_a_frontage_road_is_driven_whole_and_never_left_for_the_one_next_to_it(edges, expected):
    assert judged("frontage_slow", ROUTE, edges) is expected
    swapped = [
        [edge.translate(str.maketrans("fm", "mf")) for edge in one] for one in (ROUTE, edges)
    ]
    # The ramp keeps its name but for its letter, which is no first one.
    assert judged("frontage_fast", *swapped) is expected


def test_a_frontage_road_may_be_driven_in_two_parts():
    assert judged("frontage_slow", ROUTE, ["7:f0", "7:f1", "7:f1", "7:f2"], parts="0011")


@pytest.mark.parametrize(
    ("edges", "parts", "expected"),
    [
        (["a", "b", "b'", "c"], "", True),
        (["a", "b", "b", "b'", "c"], "", True),
        (["a", "b", "b'", "b", "b'", "c"], "", False),
        (["a", "c"], "", False),
        (["a", "b", "b'", "c"], "0011", False),
        (["c", "b", "b'", "a"], "", False),
    ],
)
def test_another_case_is_its_route_in_order_in_one_part(edges, parts, expected):
    assert judged("dead_end", ["a", "b", "b'", "c"], edges, parts) is expected
