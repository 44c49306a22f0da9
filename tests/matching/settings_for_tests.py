"""The matcher's settings as the tests use them; a test changes what it is about.

settings(break_cost=60.0)  ->  MatchSettings with one value changed
"""

import msgspec

from pipeline.trips.matching.settings import MatchSettings

VALUES = {
    "radius_m": 70.0,
    "wide_radius_m": 100.0,
    "segments": 12,
    "sigma_factor": 2.0,
    "sigma_min_m": 4.0,
    "sigma_max_m": 30.0,
    "sigma_few_m": 10.0,
    "beta_min_m": 4.0,
    "beta_mps": 0.8,
    "theta": 0.4,
    "u_turn_cost": 6.0,
    "back_m": 20.0,
    "standing_m": 10.0,
    "speed_mps": 38.0,
    "speed_slack_m": 20.0,
    "jump_mps": 60.0,
    "gap_s": 900.0,
    "detour_factor": 2.0,
    "detour_m": 500.0,
    "skip_cost": 15.0,
    "end_cost": 30.0,
    "skip_run": 2,
    "break_cost": 22.0,
    "beam": 12.0,
    "part_fixes": 2,
    "part_cost": 30.0,
    "table_bound_m": 1200.0,
    "table_max_mb": 600.0,
    "search_sources": 2,
    "search_max_m": 20000.0,
    "chunk_points": 4000,
}


def settings(**changed: float) -> MatchSettings:
    return msgspec.convert({**VALUES, **changed}, MatchSettings)
