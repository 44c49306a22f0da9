"""Record a drive badly: correlated error, outliers, and the defects of real files, on purpose.

30 true positions -> 27 written ones, some metres off; defects ["missing"] and the truth of each
"""

from typing import NamedTuple

import numpy as np

from pipeline.trips.cleaning.coordinate_order import Bbox
from pipeline.trips.cleaning.track_points import Bools
from pipeline.trips.distance import Floats
from pipeline.trips.simulation.driving import Drive, Samples, stand_at
from pipeline.trips.simulation.road_graph import Ints, RoadGraph
from pipeline.trips.simulation.routes import Route
from pipeline.trips.simulation.settings import DefectShares, SimulateSettings

LEAVING_MPS = 12.0
DEFECTS = ("dwell", "leaving", "spike", "missing", "short", "copied")


class Recording(NamedTuple):
    """What the file will hold of a drive, and what is true.

    Attributes:
        true_s: True time of each sample, seconds from departure.
        step: Row of the true segment in the route; -1 outside the network.
        offset_m: True offset on it; NaN outside the network.
        xy: Written positions, (N, 2) metres of the city's plane.
        defects: Names out of `DEFECTS`.
    """

    true_s: Floats
    step: Ints
    offset_m: Floats
    xy: Floats
    defects: list[str]


def draw_defects(shares: DefectShares, rng: np.random.Generator) -> list[str]:
    """Draw which defects a trip has; each is drawn whatever the others are."""
    draws = dict(zip(DEFECTS, rng.random(len(DEFECTS)), strict=True))
    return [name for name in DEFECTS if draws[name] < getattr(shares, name)]


def with_dwell(drive: Drive, shares: DefectShares, rng: np.random.Generator) -> Drive:
    """Let the vehicle stand for long at one junction of its route."""
    step = int(rng.integers(max(drive.t_enter_s.size - 1, 1)))
    return stand_at(drive, step, float(rng.uniform(*shares.dwell_s)))


def position_error(count: int, settings: SimulateSettings, rng: np.random.Generator) -> Floats:
    """Draw the errors of neighbouring samples, (count, 2) metres: AR(1) per axis, with outliers."""
    rho = settings.error_rho
    fresh = rng.normal(0.0, settings.error_sigma_m, (count, 2))
    error = fresh.copy()
    for i in range(1, count):
        error[i] = rho * error[i - 1] + np.sqrt(1 - rho**2) * fresh[i]
    outlier = rng.random(count) < settings.outlier_share
    thrown = rng.normal(0.0, settings.outlier_sigma_m, (count, 2))
    return np.where(outlier[:, None], thrown, error)


def record(
    graph: RoadGraph,
    route: Route,
    samples: Samples,
    settings: SimulateSettings,
    rng: np.random.Generator,
) -> Recording:
    """Write each sample's position with its error."""
    truth = graph.position(route.edges[samples.step], samples.offset_m)
    xy = truth + position_error(samples.t_s.size, settings, rng)
    return Recording(samples.t_s, samples.step, samples.offset_m, xy, [])


def spoil(
    recording: Recording,
    names: list[str],
    shares: DefectShares,
    area: tuple[Bbox, float],
    rng: np.random.Generator,
) -> Recording:
    """Apply the defects that change samples; one that finds no room is not applied or recorded.

    Args:
        recording: The clean recording.
        names: Defects drawn for the trip.
        shares: How large they are.
        area: West, south, east, north of the area in metres, and the seconds between fixes there.
        rng: The trip's own stream for its defects.
    """
    if "leaving" in names:
        recording = _leave(recording, shares, area, rng)
    if "spike" in names and recording.true_s.size >= 3:
        xy = recording.xy.copy()
        turn, far_m = rng.uniform(0, 2 * np.pi), rng.uniform(*shares.spike_m)
        xy[int(rng.integers(1, recording.true_s.size - 1))] += far_m * np.array(
            [np.cos(turn), np.sin(turn)]
        )
        recording = _noted(recording._replace(xy=xy), "spike")
    if "missing" in names:
        recording = _lose(recording, shares, rng)
    if "short" in names:
        keep = np.arange(recording.true_s.size) < int(rng.integers(0, 4))
        recording = _noted(_only(recording, keep), "short")
    return recording


def _leave(
    recording: Recording,
    shares: DefectShares,
    area: tuple[Bbox, float],
    rng: np.random.Generator,
) -> Recording:
    """Drive on from the last sample, straight over the nearest side of the area and beyond."""
    (west, south, east, north), interval_s = area
    fewest, most = shares.leaving_samples
    count = int(rng.integers(fewest, most + 1))
    x, y = recording.xy[-1]
    gaps = np.array([x - west, y - south, east - x, north - y])
    side = int(np.argmin(gaps))
    heading = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 0.0], [0.0, 1.0]])[side]
    inside = int(max(gaps[side], 0.0) / (LEAVING_MPS * interval_s)) + 1
    ahead_s = interval_s * np.arange(1, inside + count + 1)
    added = recording.xy[-1] + heading * (LEAVING_MPS * ahead_s)[:, None]
    left = Recording(
        np.concatenate([recording.true_s, recording.true_s[-1] + ahead_s]),
        np.concatenate([recording.step, np.full(ahead_s.size, -1)]),
        np.concatenate([recording.offset_m, np.full(ahead_s.size, np.nan)]),
        np.concatenate([recording.xy, added]),
        recording.defects,
    )
    return _noted(left, "leaving")


def _lose(recording: Recording, shares: DefectShares, rng: np.random.Generator) -> Recording:
    """Lose a run of samples from the middle, at most a third of all."""
    count = recording.true_s.size
    fewest, most = shares.missing_samples
    lost = min(int(rng.integers(fewest, most + 1)), count // 3)
    if lost < 1:
        return recording
    first = int(rng.integers(1, count - lost))
    place = np.arange(count)
    return _noted(_only(recording, (place < first) | (place >= first + lost)), "missing")


def _only(recording: Recording, keep: Bools | Ints) -> Recording:
    return recording._replace(
        true_s=recording.true_s[keep],
        step=recording.step[keep],
        offset_m=recording.offset_m[keep],
        xy=recording.xy[keep],
    )


def recording_twice(recording: Recording) -> Recording:
    """Return a recording with every sample written twice in a row."""
    return _only(recording, np.repeat(np.arange(recording.true_s.size), 2))


def _noted(recording: Recording, name: str) -> Recording:
    return recording._replace(defects=[*recording.defects, name])
