"""What texts ask for, met by routes one by one and by all trips of a pool: against plain loops."""

import random

import numpy as np
import polars as pl
import pytest

from pipeline.records import Target
from pipeline.tasks.asked import MEASURES, Asked, gains_of
from pipeline.tasks.constraints import CityRules
from tests.language.test_default_trips import LOOPS, drives_in
from tests.language.towns import SETTINGS
from tests.tasks.test_constraints import defined, routes_of, target


@pytest.fixture(scope="module")
def loops() -> tuple[CityRules, pl.DataFrame]:
    on, drives, _ = drives_in(LOOPS)
    return CityRules(*on, defined(SETTINGS)), drives.head(40)


def wishes(seed: int, count: int) -> list[list[Target]]:
    """Draw what some texts ask for; a text may ask for nothing."""
    draw = random.Random(seed)
    roads = [f"Rua {chr(65 + n)}" for n in range(11)]
    some = [
        *(target("1.1", "road", names=[road]) for road in roads),
        *(target("2.1", "roads", names=draw.sample(roads, 2)) for _ in range(20)),
        *(target("2.3", "district", names=[f"Bairro {n}"]) for n in range(4)),
        *(target("3.2", "heading", feature=one) for one in ("east", "west")),
        *(target("3.2", "turns", feature=one) for one in ("few_turns", "many_turns")),
        target("4.1", "clock", feature="weekday+early_morning"),
        *(target("4.2", "pace", feature=one) for one in ("slow", "steady", "brisk")),
    ]
    return [draw.sample(some, draw.randrange(5)) for _ in range(count)]


def test_gains_are_the_shares_of_constraints_that_each_trip_meets(loops):
    rules, drives = loops
    pool = routes_of(drives).rename({"route_id": "trip_id"})
    asked = Asked(rules, wishes(5, 30))
    gains = gains_of(asked, pool)
    facts = list(rules.facts(routes_of(drives)).values())
    plain = np.array(
        [
            [
                sum(bool(rules.is_met(one, seen)) for one in targets) / len(targets)
                if targets
                else np.nan
                for seen in facts
            ]
            for targets in asked.of
        ]
    )
    query, trip = (one.ravel() for one in np.mgrid[:30, :40])
    np.testing.assert_allclose(gains.of(query, trip).reshape(30, 40), plain)
    np.testing.assert_allclose(gains.mean, plain.mean(axis=1))
    best = -np.sort(-np.nan_to_num(plain), axis=1)[:, :10]
    np.testing.assert_allclose(gains.ideal, best)
    assert 0 < np.nanmean(plain) < 1


def test_a_route_meets_what_it_meets_and_no_route_meets_nothing(loops):
    rules, drives = loops
    asked = Asked(
        rules,
        [
            [target("3.2", "heading", feature="east"), target("3.2", "heading", feature="west")],
            [target("1.1", "road", names=["Rua Z"]), target("4.2", "pace", feature="slow")],
            [],
        ],
    )
    routes = routes_of(drives.head(3), timed=False).drop("route_id")
    gone = pl.lit(None, pl.List(pl.String)).alias("edge_ids")
    with_routes, without = asked.met(routes), asked.met(routes.with_columns(gone))
    assert with_routes.columns == [one.name for one in MEASURES]
    assert without["constraints_met"].to_list() == [0.0, 0.0, None]
    assert without["all_constraints_met"].to_list() == [0.0, 0.0, None]
    # A route has one heading at most, and no pace without times; nobody asks the third anything.
    assert with_routes["constraints_met"][0] in {0.0, 0.5}
    assert with_routes["met_3_2"][0] == with_routes["constraints_met"][0]
    assert with_routes["constraints_undecided"].to_list() == [0.0, 1.0, 0.0]
    assert with_routes["met_1_1"].to_list() == [None, 0.0, None]
    assert with_routes["met_4_2"].to_list() == [None, None, None]


def test_times_decide_where_a_route_has_them(loops):
    rules, drives = loops
    asked = Asked(rules, [[target("4.2", "pace", feature=one)] for one in ("slow", "brisk")])
    trip = drives.head(1)
    found = asked.met(pl.concat([routes_of(trip)] * 2).drop("route_id"))
    assert found["constraints_undecided"].to_list() == [0.0, 0.0]
    assert sum(found["constraints_met"]) == 1  # 100 m in ten seconds
    assert found["constraints_met"].to_list() == [0.0, 1.0]


def test_the_same_route_with_other_times_is_another_route(loops):
    rules, drives = loops
    asked = Asked(rules, [[target("4.2", "pace", feature="brisk")]] * 2)
    quick = routes_of(drives.head(1)).drop("route_id")
    slow = quick.with_columns(pl.col("time_spent_s") * 10)
    assert asked.met(pl.concat([quick, slow]))["constraints_met"].to_list() == [1.0, 0.0]
