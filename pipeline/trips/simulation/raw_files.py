"""Write simulated trips as raw files in a city's own format, as untidy as the real ones.

porto: "1719826200620000007","B",...,"[[24.94,60.17],...]" in simulated_train.csv;
cabspotting: new_sim0007.txt with `60.17 24.94 1 1719826200`, newest first
"""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from pipeline.trips.distance import Floats

_PORTO_HEADER = (
    '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE",'
    '"MISSING_DATA","POLYLINE"'
)
_FREE_S = 30  # a cab reports `free` so long before and after a trip


class WrittenTrip(NamedTuple):
    """What a raw file holds of a trip; positions as (lon, lat) degrees, times in whole seconds."""

    raw_trip_id: str
    vehicle: int
    t: list[int]
    degrees: Floats
    copied: bool


def trip_id(form: str, vehicle: int, first_s: int) -> str:
    """Return the id a reader of the format will give the trip."""
    name = vehicle_id(form, vehicle)
    return f"{first_s}6{name}" if form == "porto" else f"{name}-{first_s}"


def vehicle_id(form: str, vehicle: int) -> str:
    """Return the id of a vehicle in the format."""
    return f"2000{vehicle:04d}" if form == "porto" else f"sim{vehicle:04d}"


def write_porto(trips: Iterable[WrittenTrip], folder: Path, start_s: dict[str, int]) -> None:
    """Write simulated_train.csv; a copied trip has a second, shorter row under the same id.

    Args:
        trips: The trips.
        folder: Where to write.
        start_s: Departure of each trip, which an empty trip states too.
    """
    rows = []
    for trip in trips:
        line = [[round(float(x), 6), round(float(y), 6)] for x, y in trip.degrees]
        copies = [line, line[: max(len(line) * 2 // 3, 1)]] if trip.copied else [line]
        taxi = vehicle_id("porto", trip.vehicle)
        for points in copies:
            head = (trip.raw_trip_id, "B", "", "", taxi, str(start_s[trip.raw_trip_id]), "A")
            cells = (*head, "False", json.dumps(points, separators=(",", ":")))
            rows.append((start_s[trip.raw_trip_id], ",".join(f'"{cell}"' for cell in cells)))
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([_PORTO_HEADER, *(row for _, row in sorted(rows))])
    (folder / "simulated_train.csv").write_text(text + "\n", encoding="utf-8")


def write_cabspotting(trips: Iterable[WrittenTrip], folder: Path, _start_s: dict[str, int]) -> None:
    """Write new_<cab>.txt, newest first, with a free report before and after each trip."""
    cabs: dict[int, list[tuple[int, str]]] = {}
    for trip in trips:
        if not trip.t:
            continue
        rows = cabs.setdefault(trip.vehicle, [])
        places = [f"{y:.5f} {x:.5f}" for x, y in trip.degrees]
        lines = [(t, f"{place} 1 {t}") for t, place in zip(trip.t, places, strict=True)]
        rows += lines * 2 if trip.copied else lines
        before, after = trip.t[0] - _FREE_S, trip.t[-1] + _FREE_S
        rows += [(before, f"{places[0]} 0 {before}"), (after, f"{places[-1]} 0 {after}")]
    folder.mkdir(parents=True, exist_ok=True)
    summary = []
    for cab, rows in sorted(cabs.items()):
        name = vehicle_id("cabspotting", cab)
        text = "\n".join(line for _, line in sorted(rows, reverse=True))
        (folder / f"new_{name}.txt").write_text(text + "\n", encoding="utf-8")
        summary.append(f'<cab id="{name}" updates="{len(rows)}"/>')
    (folder / "_cabs.txt").write_text("\n".join(summary) + "\n", encoding="utf-8")


def assign_vehicles(
    wishes: list[int], spans_s: list[tuple[float, float]], fleet: int, rest_s: float
) -> list[int]:
    """Give each trip the vehicle it drew, or the next one that is free.

    Trips are served in their own order, so later ones never change an earlier one's vehicle. When
    the whole fleet is busy the vehicle drawn drives twice at once, as taxis in real files do.

    Args:
        wishes: The vehicle each trip drew, from 0.
        spans_s: When each trip begins and ends.
        fleet: Number of vehicles.
        rest_s: Pause a vehicle needs between two trips.
    """
    busy: dict[int, list[tuple[float, float]]] = {}
    given = []
    for wish, (begin, end) in zip(wishes, spans_s, strict=True):
        vehicle = wish
        for turn in range(fleet):
            candidate = (wish + turn) % fleet
            if all(end + rest_s < b or e + rest_s < begin for b, e in busy.get(candidate, [])):
                vehicle = candidate
                break
        busy.setdefault(vehicle, []).append((begin, end))
        given.append(vehicle)
    return given


def rises(times: list[int]) -> bool:
    """Tell whether whole-second times rise strictly, as every format written here needs."""
    return all(a < b for a, b in pairwise(times))


WRITERS: dict[str, Callable[[Iterable[WrittenTrip], Path, dict[str, int]], None]] = {
    "porto": write_porto,
    "cabspotting": write_cabspotting,
}
