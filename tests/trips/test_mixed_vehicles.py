"""Ids under which several vehicles drive at once are refused; what GPS does to one is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.seeds import rng_for
from tests.trips.builders import START, cleaned, decisions, drive, outcome, trip


def merged(*tracks: tuple[list[float], float, float, float]) -> dict:
    """A raw trip of several tracks: places along x, their y, first time, time between points."""
    rows = sorted(
        (START + first + step * i, x, y) for xs, y, first, step in tracks for i, x in enumerate(xs)
    )
    return trip("T", [x for _, x, _ in rows], y_m=[y for *_, y in rows], t=[t for t, *_ in rows])


MIXED = {
    "in turn": merged((drive(20), 0, 0, 15), (drive(20), 3000, 7, 15)),
    "at the same times": merged((drive(20), 0, 0, 15), (drive(20), 3000, 0, 15)),
    "one reports oftener": merged((drive(60, step_m=30), 0, 0, 5), (drive(20), 3000, 2, 15)),
    "a short overlap": merged((drive(20), 0, 0, 15), (drive(20), 3000, 247, 15)),
    "three": merged((drive(20), 0, 0, 15), (drive(20), 3000, 5, 15), (drive(20), -3000, 10, 15)),
    "towards each other": merged((drive(20), 0, 0, 15), (drive(20)[::-1], 500, 7, 15)),
}


@pytest.mark.parametrize("row", MIXED.values(), ids=MIXED)
def test_several_vehicles_under_one_id_are_refused_by_name(row):
    result = cleaned(row)
    assert outcome(result, "T") == "mixed_vehicles"
    assert result.rejected.select("item_id", "reason").rows() == [("T", "mixed_vehicles")]
    assert set(decisions(result, "T")) == {"mixed_vehicles"}
    assert result.cleaned.is_empty()


def away(count: int, places: dict[int, float]) -> list[float]:
    """Metres north of a drive along x: 0 but at the given points."""
    return [places.get(i, 0.0) for i in range(count)]


ONE = {
    "spikes": trip("T", drive(30), y_m=away(30, {5: 4000, 12: -3000, 20: 5000, 26: 4000})),
    "a lasting jump": trip("T", [*drive(15), *drive(15, first_m=9000)]),
    "away for a while, twice": trip(
        "T", drive(40), y_m=away(40, dict.fromkeys([*range(8, 14), *range(24, 30)], 3000.0))
    ),
    "a mast between fixes": trip(
        "T", [x if i % 2 else 0.0 for i, x in enumerate(drive(30))],
        y_m=[0.0 if i % 2 else 4000.0 for i in range(30)],
    ),
    "there and back": trip("T", [*drive(20), *drive(20)[::-1]]),
    "another vehicle after a pause": trip(
        "T", [*drive(10), *drive(10, first_m=8000)],
        t=[START + 15 * i + (4000 if i >= 10 else 0) for i in range(20)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ONE.values(), ids=ONE)
def test_what_gps_does_to_one_vehicle_is_left_to_the_other_rules(row):
    result = cleaned(row, most_detour=1000.0)
    assert "mixed_vehicles" not in decisions(result, "T")


@given(st.integers(0, 10_000), st.sampled_from([1.0, 5.0, 15.0, 60.0]))
def test_no_noise_of_gps_makes_two_vehicles_of_one(seed, step_s):
    rng = rng_for(seed, "noise", "T")
    sigma_m = np.where(rng.random((2, 80)) < 0.1, 60.0, 6.0)
    x, y = rng.normal(0.0, sigma_m)
    x = x + 10.0 * step_s * np.arange(80)
    times = [START + step_s * i for i in range(80)]
    result = cleaned(trip("T", x.tolist(), y_m=y.tolist(), t=times), most_gap_s=120.0)
    assert "mixed_vehicles" not in decisions(result, "T")


def test_a_prematched_trip_is_of_one_vehicle():
    row = MIXED["in turn"] | {"edge_ids": [f"e{i}" for i in range(40)]}
    assert "mixed_vehicles" not in decisions(cleaned(row), "T")


def test_other_trips_of_the_city_stay():
    result = cleaned(MIXED["in turn"], trip("U", drive(10)))
    assert result.cleaned["trip_id"].to_list() == ["U"]
