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
    """What a raw file holds of a trip; positions as (lon, lat) degrees, times in whole seconds.

    `start_s` is the departure, which Porto's files tell of an empty trip too.
    """

    raw_trip_id: str
    vehicle: int
    start_s: int
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


def write_porto(trips: Iterable[WrittenTrip], folder: Path) -> None:
    """Write simulated_train.csv; a copied trip has a second, shorter row under the same id."""
    rows = []
    for trip in trips:
        line = [[round(float(x), 6), round(float(y), 6)] for x, y in trip.degrees]
        copies = [line, line[: max(len(line) * 2 // 3, 1)]] if trip.copied else [line]
        taxi = vehicle_id("porto", trip.vehicle)
        for points in copies:
            head = (trip.raw_trip_id, "B", "", "", taxi, str(trip.start_s), "A")
            cells = (*head, "False", json.dumps(points, separators=(",", ":")))
            rows.append((trip.start_s, ",".join(f'"{cell}"' for cell in cells)))
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([_PORTO_HEADER, *(row for _, row in sorted(rows))])
    (folder / "simulated_train.csv").write_text(text + "\n", encoding="utf-8")


def write_cabspotting(trips: Iterable[WrittenTrip], folder: Path) -> None:
    """Write new_<cab>.txt, newest first, with a free report before and after each trip."""
    cabs: dict[int, list[str]] = {}  # the reports of a trip as one text, which takes less memory
    for trip in trips:
        if not trip.t:
            continue
        places = [f"{y:.5f} {x:.5f}" for x, y in trip.degrees]
        lines = [f"{place} 1 {t}" for t, place in zip(trip.t, places, strict=True)]
        lines += lines if trip.copied else []
        before, after = trip.t[0] - _FREE_S, trip.t[-1] + _FREE_S
        lines += [f"{places[0]} 0 {before}", f"{places[-1]} 0 {after}"]
        cabs.setdefault(trip.vehicle, []).append("\n".join(lines))
    folder.mkdir(parents=True, exist_ok=True)
    summary = []
    for cab, told in sorted(cabs.items()):
        name = vehicle_id("cabspotting", cab)
        lines = "\n".join(told).split("\n")
        lines.sort(key=lambda line: (int(line.rpartition(" ")[2]), line), reverse=True)
        (folder / f"new_{name}.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
        summary.append(f'<cab id="{name}" updates="{len(lines)}"/>')
    (folder / "_cabs.txt").write_text("\n".join(summary) + "\n", encoding="utf-8")


class Fleet:
    """Vehicles that trips are given to.

    Trips are served in their own order, so later ones never change an earlier one's vehicle. When
    the whole fleet is busy the vehicle drawn drives twice at once, as taxis in real files do.
    """

    def __init__(self, size: int, rest_s: float) -> None:
        """Take a number of vehicles, and the pause one needs between two trips."""
        self._size, self._rest_s = size, rest_s
        self._busy: list[list[tuple[float, float]]] = [[] for _ in range(size)]

    def vehicle(self, wish: int, begin_s: float, end_s: float) -> int:
        """Give a trip the vehicle it drew, from 0, or the next one that is free."""
        turns = ((wish + turn) % self._size for turn in range(self._size))
        given = next((one for one in turns if self._is_free(one, begin_s, end_s)), wish)
        self._busy[given].append((begin_s, end_s))
        return given

    def _is_free(self, vehicle: int, begin_s: float, end_s: float) -> bool:
        rest_s = self._rest_s
        return all(end_s + rest_s < b or e + rest_s < begin_s for b, e in self._busy[vehicle])


def rises(times: list[int]) -> bool:
    """Tell whether whole-second times rise strictly, as every format written here needs."""
    return all(a < b for a, b in pairwise(times))


WRITERS: dict[str, Callable[[Iterable[WrittenTrip], Path], None]] = {
    "porto": write_porto,
    "cabspotting": write_cabspotting,
}
