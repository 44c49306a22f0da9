"""The corrected measures, under names of their own; the published ones stay as they are.

    CORRECTED["physical_density"].unit  ->  "people/m2"

A benchmark may bind them like the published ones; in reference mode they are unknown functions.
What each mends stands at the function.
"""

import math

from pipeline.stride.measures import observed, physical, plausibility
from pipeline.stride.measures.registry import MEASURES, Measure, Params, table_of


def _from_zero(_: Params) -> tuple[float, float]:
    return 0.0, math.inf


def _share(_: Params) -> tuple[float, float]:
    return 0.0, 1.0


def _cosine(_: Params) -> tuple[float, float]:
    return -1.0, 1.0


def _two(_: Params) -> tuple[float, float]:
    return -2.0, 2.0  # two neighbouring bins have data, and one of them all of it


_WINDOW: dict[str, float] = {"window_s": 10.0}
_OBSERVED = (
    observed.speed_trend_observed,
    observed.density_trend_observed,
    observed.flow_alignment_trend_observed,
    observed.spread_trend_observed,
    observed.clustering_trend_observed,
    observed.collision_trend_observed,
    observed.lingering_trend_observed,
    observed.entropy_trend_observed,
)
CORRECTED = table_of(
    Measure(
        "physical_density", "S", physical.physical_density, {"neighbours": 5}, "people/m2",
        _from_zero,
    ),
    Measure(
        "contact_rate_per_agent", "R", physical.contact_rate_per_agent, {}, "people", _from_zero,
        frozenset({"radius"}),
    ),
    Measure(
        "flow_alignment_n_corrected", "D", physical.flow_alignment_n_corrected, {}, "1", _share,
        frozenset({"velocity"}),
    ),
    Measure("dispersal_windowed", "S", physical.dispersal_windowed, _WINDOW, "1", _cosine),
    Measure("convergence_windowed", "S", physical.convergence_windowed, _WINDOW, "1", _cosine),
    Measure(
        "obstacle_penetration", "R", plausibility.obstacle_penetration, {}, "1", _share,
        frozenset({"radius"}),
    ),
    Measure(
        "goal_reaching", "R", plausibility.goal_reaching, {"within_m": 1.0}, "1", _share,
        frozenset({"goal"}),
    ),
    Measure(
        "teleport_fraction", "R", plausibility.teleport_fraction, {"max_speed_mps": 10.0}, "1",
        _share,
    ),
    Measure(
        "plausible_acceleration_fraction", "R", plausibility.plausible_acceleration_fraction,
        {"max_acceleration_mps2": 5.0}, "1", _share,
    ),
    Measure("group_cohesion", "R", plausibility.group_cohesion, {}, "m", _from_zero),
    *(
        MEASURES[one.__name__.removesuffix("_observed")]._replace(
            name=one.__name__, function=one, bounds=_two
        )
        for one in _OBSERVED
    ),
)  # fmt: skip
# What questions may bind: the published 20, and people per square metre, which they stand in for
# (STRIDE, section 3: local density is scale-free) and which alone tells dense from sparse.
BINDABLE = {**MEASURES, "physical_density": CORRECTED["physical_density"]}
