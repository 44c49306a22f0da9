"""What holds for any trips: nothing is lost, nothing depends on order, cleaning is idempotent."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.trips.cleaning.settings import DECISIONS, REASONS
from pipeline.trips.cleaning.trip_rules import INDEX_COLUMNS, vehicle_conflicts
from tests.trips.builders import BBOX, START, cleaned, lon_lat, trip

NARROW = (lon_lat(-400)[0], 41.1, lon_lat(400)[0], 41.2)

STEPS = st.sampled_from([0.0, 3.0, 60.0, 100.0, -100.0, 900.0, -900.0, 4000.0])
PAUSES = st.sampled_from([0.0, 15.0, 15.0, 15.0, 400.0])


@st.composite
def trips(draw):
    """A few trips of few vehicles, with stops, jumps, pauses, copies, strays and empty ones."""
    made = []
    for _ in range(draw(st.integers(0, 5))):
        steps = draw(st.lists(STEPS, max_size=14))
        pauses = draw(st.lists(PAUSES, min_size=len(steps), max_size=len(steps)))
        made.append(
            trip(
                draw(st.sampled_from(["A", "B", "C"])),
                list(np.cumsum(steps)),
                t=[START + float(s) for s in np.cumsum(pauses)],
                vehicle=draw(st.sampled_from([None, "v", "w"])),
                flag=draw(st.sampled_from([None, None, None, "missing_data"])),
            )
        )
        if made[-1]["lon"] and draw(st.booleans()):
            made[-1]["lon"][0] *= -1
    return made


SETTINGS = st.fixed_dictionaries(
    {
        "lasting_jump": st.sampled_from(["split", "mark", "retime"]),
        "long_dwell": st.sampled_from(["note", "split"]),
        "outside": st.sampled_from(["clip", "drop"]),
        "thin_to_s": st.sampled_from([0.0, 30.0]),
    }
)


@settings(max_examples=120, deadline=None)
@given(trips(), SETTINGS, st.sampled_from([BBOX, NARROW]))
def test_every_point_and_every_trip_is_accounted_for(made, changes, bbox):
    result = cleaned(*made, bbox=bbox, **changes)
    points = sum(len(one["t"]) for one in made)
    assert result.raw_trips.height == len(made)
    assert sum(result.tally["points", name] for name in DECISIONS) == points
    assert result.tally["points", "kept"] == result.cleaned["t"].list.len().sum()
    assert sum(result.tally["trips", name] for name in ("cleaned", *REASONS)) == len(made)
    ended = set(result.cleaned["raw_trip_id"]) | set(result.rejected["item_id"])
    assert ended == set(result.raw_trips["raw_trip_id"])
    assert not set(result.cleaned["raw_trip_id"]) & set(result.rejected["item_id"])
    assert result.raw_trips["raw_trip_id"].is_unique().all()
    assert result.cleaned["trip_id"].is_unique().all()


@settings(max_examples=60, deadline=None)
@given(trips(), SETTINGS, st.randoms(use_true_random=False))
def test_the_order_of_trips_and_points_decides_nothing(made, changes, random):
    shuffled = [dict(one) for one in made]
    random.shuffle(shuffled)
    for one in shuffled:
        order = list(range(len(one["t"])))
        random.shuffle(order)
        for name in ("t", "lon", "lat"):
            one[name] = [one[name][i] for i in order]
    columns = ["trip_id", "t", "lon", "lat", "notes", "vehicle_id"]
    once, again = cleaned(*made, **changes), cleaned(*shuffled, **changes)
    assert once.cleaned.select(columns).equals(again.cleaned.select(columns))
    outcomes = ["raw_trip_id", "outcome", "trip_ids"]
    assert once.raw_trips.select(outcomes).equals(again.raw_trips.select(outcomes))


@settings(max_examples=60, deadline=None)
@given(trips(), SETTINGS)
def test_cleaned_trips_rise_in_time_and_point_back_to_their_raw_points(made, changes):
    result = cleaned(*made, **changes)
    raw = {row["raw_trip_id"]: row for row in result.raw_trips.iter_rows(named=True)}
    for row in result.cleaned.iter_rows(named=True):
        source = raw[row["raw_trip_id"]]
        assert (np.diff(row["t"]) > 0).all()
        assert [source["lon"][i] for i in row["raw_index"]] == row["lon"]
        assert {source["decisions"][i] for i in row["raw_index"]} == {"kept"}
        assert row["trip_id"] in source["trip_ids"]


SPANS = st.lists(
    st.tuples(st.sampled_from("uv"), st.integers(0, 30), st.integers(0, 12), st.integers(1, 9)),
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(SPANS)
def test_conflicts_are_those_a_slow_search_finds(spans):
    rows = [
        {"raw_trip_id": f"t{i:02d}", "vehicle_id": v, "points": n, "start": a, "end": a + d}
        for i, (v, a, d, n) in enumerate(spans)
    ]
    index = pl.DataFrame(rows, schema=INDEX_COLUMNS)
    ranked = sorted(
        rows, key=lambda r: (-r["points"], r["start"] - r["end"], r["start"], r["raw_trip_id"])
    )
    kept, losers = [], {}
    for row in ranked:
        mine = [k for k in kept if k["vehicle_id"] == row["vehicle_id"]]
        if any(k["start"] == row["start"] for k in mine):
            losers[row["raw_trip_id"]] = "duplicate_vehicle_time"
        elif any(row["start"] < k["end"] and k["start"] < row["end"] for k in mine):
            losers[row["raw_trip_id"]] = "vehicle_overlap"
        else:
            kept.append(row)
    assert dict(vehicle_conflicts(index, fragments=False).iter_rows()) == losers
