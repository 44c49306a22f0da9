"""The 20 measures of STRIDE in one table: axis, defaults, unit, range, and what each reads.

MEASURES["mean_speed"].axis                                       ->  "V"
found_name("dmt.Speed-Trend", MEASURES)                           ->  "speed_trend"
MEASURES["spatial_concentration"].bounds({"n_grid": 5})           ->  (0.0, 0.96)
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np

from pipeline.stride.measures import direction, realism, spatial, temporal, velocity
from pipeline.stride.measures.clip import Clip

Axis = Literal["V", "R", "D", "S", "T"]
AXES: dict[Axis, str] = {
    "V": "Velocity", "R": "Realism", "D": "Direction", "S": "Spatial", "T": "Temporal",
}  # fmt: skip
Field = Literal["velocity", "radius", "goal"]
Params = Mapping[str, object]


class Measure(NamedTuple):
    """One measure.

    Attributes:
        name: As benchmarks bind it.
        axis: V, R, D, S or T.
        function: Computes it from a clip and its parameters by name; None = no data.
        parameters: Parameter names and the values they have unless a benchmark says otherwise.
        unit: Of the value; `1` = none.
        bounds: From parameters to the least and the largest possible value, of a clip that has
            at least as many frames as bins.
        reads: What it reads besides positions and presence.
        empty: What the published scorer says where there is no data.
    """

    name: str
    axis: Axis
    function: Callable[..., float | None]
    parameters: dict[str, float]
    unit: str
    bounds: Callable[[Params], tuple[float, float]]
    reads: frozenset[Field] = frozenset()
    empty: float = 0.0

    def value(self, clip: Clip, params: Params) -> float | None:
        """Compute it; parameters not given have their usual values. None = no data.

        Raises:
            UndefinedError: It has no value at all, or a parameter is of the wrong kind.
        """
        with np.errstate(all="ignore"):  # the value itself tells what is not finite
            return self.function(clip, **{**self.parameters, **params})


def _from_zero(_: Params) -> tuple[float, float]:
    return 0.0, math.inf


def _from_one(_: Params) -> tuple[float, float]:
    return 1.0, math.inf


def _share(_: Params) -> tuple[float, float]:
    return 0.0, 1.0


def _cosine(_: Params) -> tuple[float, float]:
    return -1.0, 1.0


def _trend(params: Params) -> tuple[float, float]:
    n_bins = params.get("n_bins", _BINS["n_bins"])
    most = 6.0 / (n_bins + 1) if isinstance(n_bins, int) and n_bins >= 2 else 0.0
    return -most, most


def _gini(params: Params) -> tuple[float, float]:
    n_grid = params.get("n_grid", 5)
    return 0.0, 1.0 - 1.0 / n_grid**2 if isinstance(n_grid, int) and n_grid >= 1 else 0.0


_BINS: dict[str, float] = {"n_bins": 5}
_NEAR: dict[str, float] = {"radius_mult": 1.5}
_SLOW: dict[str, float] = {"speed_threshold": 0.3}
_V: frozenset[Field] = frozenset({"velocity"})
_R: frozenset[Field] = frozenset({"radius"})


def table_of(*rows: Measure) -> dict[str, Measure]:
    """Return measures by name."""
    return {row.name: row for row in rows}


MEASURES = table_of(
    Measure("mean_speed", "V", velocity.mean_speed, {}, "m/s", _from_zero, _V),
    Measure("speed_variation_coeff", "V", velocity.speed_variation_coeff, {}, "1", _from_zero, _V),
    Measure("collision_fraction", "R", realism.collision_fraction, {}, "1", _share, _R),
    Measure("lingering_fraction", "R", realism.lingering_fraction, _SLOW, "1", _share, _V),
    Measure("flow_alignment", "D", direction.flow_alignment, {}, "1", _share, _V),
    Measure(
        "directional_entropy_normalized", "D", direction.directional_entropy_normalized, {}, "1",
        _share, _V,
    ),
    Measure("path_linearity", "D", direction.path_linearity, {}, "1", _share),
    Measure("spatial_concentration", "S", spatial.spatial_concentration, {"n_grid": 5}, "1", _gini),
    Measure("mean_local_density", "S", spatial.mean_local_density, _NEAR, "people", _from_zero),
    Measure(
        "peak_local_density", "S", spatial.peak_local_density, _NEAR, "1", _from_one, empty=1.0
    ),
    Measure("dispersal_score", "S", spatial.dispersal_score, {}, "1", _cosine),
    Measure("convergence_score", "S", spatial.convergence_score, {}, "1", _cosine),
    Measure("speed_trend", "T", temporal.speed_trend, _BINS, "1", _trend, _V),
    Measure("density_trend", "T", temporal.density_trend, {**_NEAR, **_BINS}, "1", _trend),
    Measure("flow_alignment_trend", "T", temporal.flow_alignment_trend, _BINS, "1", _trend, _V),
    Measure("spread_trend", "T", temporal.spread_trend, _BINS, "1", _trend),
    Measure(
        "clustering_trend", "T", temporal.clustering_trend, {"eps_mult": 1.5, **_BINS}, "1", _trend
    ),
    Measure("collision_trend", "T", temporal.collision_trend, _BINS, "1", _trend, _R),
    Measure("lingering_trend", "T", temporal.lingering_trend, {**_SLOW, **_BINS}, "1", _trend, _V),
    Measure("entropy_trend", "T", temporal.entropy_trend, _BINS, "1", _trend, _V),
)  # fmt: skip


def bare(name: str) -> str:
    """Return a name in lower case with everything but a-z and 0-9 left out."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def found_name(name: str, known: Mapping[str, object]) -> str | None:
    """Return the known name that is meant, as the published scorer reads names; None = unknown.

    What stands before the last dot is left out; then the exact name counts, and after that the one
    that is equal in lower case with everything but letters and digits left out.
    """
    last = name.rpartition(".")[2]
    if last in known:
        return last
    return next((one for one in known if bare(one) == bare(last)), None)


class Taken(NamedTuple):
    """Parameters as a measure takes them, and the keys that it does not know."""

    params: dict[str, object]
    dropped: list[str]


def taken_params(params: Mapping[str, object], measure: Measure) -> Taken:
    """Match the keys of a benchmark's `params` to a measure's parameters, as names are matched.

    Parameters whose value is None are left out, so that the usual value counts.
    """
    taken: dict[str, object] = {}
    dropped: list[str] = []
    for key, value in params.items():
        name = key if key in measure.parameters else None
        name = name or next((one for one in measure.parameters if bare(one) == bare(key)), None)
        if name is None:
            dropped.append(key)
        elif value is not None:
            taken[name] = value
    return Taken(taken, dropped)
