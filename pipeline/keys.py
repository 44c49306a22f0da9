"""What a value must be beyond its plain type: shared types, and rules that hold for a key anywhere.

    bbox: [24.96, 60.16, 24.92, 60.18]  ->  "expected west, south, east, north with ..., found ..."
    time_zone: Europe                   ->  "expected an IANA zone such as Europe/Lisbon, found ..."

Rules raise ValueError with the end of the message; `pipeline.params` says in which file and key.
"""

import zoneinfo
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from msgspec import Meta

Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
H3Resolution = Annotated[int, Meta(ge=0, le=15)]
Text = Annotated[str, Meta(min_length=1)]

# Beyond these, products and whole numbers of 64 bits overflow; no setting is that large in earnest.
_LARGEST, _LARGEST_WHOLE = 1e15, 2**63 - 1
# Names that zoneinfo lists although they are no zone of a place; polars knows neither.
_NO_PLACE = frozenset({"Factory", "localtime"})


def is_time_zone(name: str) -> bool:
    """Tell whether `name` is an IANA zone; never opens a file of that name."""
    return name in _zones()


@cache
def _zones() -> frozenset[str]:
    """List the zones once: zoneinfo reads all their files."""
    return frozenset(zoneinfo.available_timezones() - _NO_PLACE)


def check_time_zone(value: Any) -> None:
    """Refuse text that names no IANA zone; null is for the key's type to allow or not."""
    if value is not None and not is_time_zone(value):
        raise ValueError(f"expected an IANA zone such as Europe/Lisbon, found {value!r}")


def check_bbox(value: Any) -> None:
    """Refuse a bbox that is not west, south, east, north in degrees."""
    west, south, east, north = value
    if _is_box(west, south, east, north):
        return
    hint = ""
    if _is_box(south, west, north, east):
        hint = " (latitude stands before longitude)"
    elif west >= east or south >= north:
        hint = " (a side is empty or reversed)"
    raise ValueError(
        "expected west, south, east, north with west < east within 180 and south < north within 90"
        f" degrees, found {list(value)}{hint}"
    )


def _is_box(west: float, south: float, east: float, north: float) -> bool:
    return -180 <= west < east <= 180 and -90 <= south < north <= 90


# Rules by the name of a key, wherever it stands in params.yaml or configs/<city>.yaml.
RULES: dict[str, Callable[[Any], None]] = {"bbox": check_bbox, "time_zone": check_time_zone}


def check_values(value: Any, path: str) -> tuple[str, str] | None:
    """Look through a converted section as YAML gave it, for what its types cannot say.

    Args:
        value: A mapping, list or scalar as YAML gave it, of the right shape.
        path: Dotted path of the value; its last name is the key whose rule holds.

    Returns:
        Dotted path and message of the first fault, or None.
    """
    if isinstance(value, float) and not abs(value) <= _LARGEST:
        return path, f"expected a finite number of at most {_LARGEST:g} in size, found {value}"
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        return path, "expected a whole number below 2**63 in size, found a larger one"
    items: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        items = [(f"{path}.{key}", item) for key, item in value.items()]
    elif isinstance(value, list):
        items = [(f"{path}[{place}]", item) for place, item in enumerate(value)]
    for inner, item in items:
        fault = check_values(item, inner)
        if fault:
            return fault
    rule = RULES.get(path.rpartition(".")[2])
    try:
        if rule:
            rule(value)
    except (TypeError, ValueError) as fault:
        return path, str(fault)
    return None
