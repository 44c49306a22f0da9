"""All measures of one array, each with its value or the reason it has none.

measured(read, mode="reference", asked={})
->  [{"function": "mean_speed", "value": 1.2, "error": None, "axis": "V", "unit": "m/s", ...}]
"""

import math
from collections.abc import Mapping
from typing import Any

from pipeline.stride.arrays import Floats
from pipeline.stride.checks import registry_of, spoilt_by
from pipeline.stride.importers.states import StatesRead
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import Measure
from pipeline.stride.measures.undefined import UndefinedError
from pipeline.stride.sources import Mode


def measured(
    read: StatesRead,
    *,
    mode: Mode,
    asked: Mapping[str, Mapping[str, object]],
    obstacles: Floats | None,
) -> list[dict[str, Any]]:
    """Measure a trajectory.

    Args:
        read: The trajectory and what is suspicious about it.
        mode: `reference` gives the published values of the 20 measures, also where there is no
            data; `strict` gives none there and none from untrusted input, and has the corrected
            measures too.
        asked: Parameters by measure, where they are not the usual ones.
        obstacles: (n, 4), walls of the map: x0, x1, y0, y1 in metres; None = not known.

    Returns:
        One record per measure: function, axis, unit, params (as asked), params_used, value, error.
        A value that is not finite is None, and `error` says what it is.
    """
    clip = Clip(read.walk, obstacles=obstacles)
    spoilt = spoilt_by(read.traps) if mode == "strict" else {}
    records = []
    for name, measure in registry_of(mode).items():
        params = asked.get(name, {})
        value, error = _value(measure, clip, params, spoilt, mode)
        records.append(
            {
                "function": name,
                "axis": measure.axis,
                "unit": measure.unit,
                "params": dict(params),
                "params_used": {**measure.parameters, **params},
                "value": value,
                "error": error,
            }
        )
    return records


def _value(
    measure: Measure,
    clip: Clip,
    params: Mapping[str, object],
    spoilt: Mapping[str, str],
    mode: Mode,
) -> tuple[float | None, str | None]:
    for field in ("positions", *sorted(measure.reads)):
        if field in spoilt:
            return None, spoilt[field]
    try:
        value = measure.value(clip, params)
    except UndefinedError as fault:
        return None, str(fault)
    if value is None:
        return (
            (measure.empty, None) if mode == "reference" else (None, "no data: nobody to measure")
        )
    return (value, None) if math.isfinite(value) else (None, f"the value is {value}")
