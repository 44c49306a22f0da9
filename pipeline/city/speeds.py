"""Driving speeds of road segments: the `maxspeed` tag where it can be read, else the class's.

tag_speed_kph("30 mph")      ->  48.28
tag_speed_kph("FR:urban")    ->  None, and the segment takes its class's speed
"""

import re

KPH_PER_MPH = 1.609344
KPH_PER_KNOT = 1.852
_NUMBER = re.compile(r"^(\d+(?:\.\d+)?)\s*(km/h|kmh|kph|mph|knots)?$")
_FACTOR = {
    None: 1.0,
    "km/h": 1.0,
    "kmh": 1.0,
    "kph": 1.0,
    "mph": KPH_PER_MPH,
    "knots": KPH_PER_KNOT,
}


def tag_speed_kph(tag: str | None) -> float | None:
    """Return the speed a `maxspeed` tag states in km/h, or None where it states no number.

    Of several values ("50;30") the lowest counts. Words ("walk", "none", "FR:urban") give None:
    what they mean differs by country, and the class's speed is the better guess.
    """
    if tag is None:
        return None
    found = [_NUMBER.match(part.strip().lower()) for part in re.split(r"[;,|]", tag)]
    speeds = [float(m[1]) * _FACTOR[m[2]] for m in found if m and float(m[1]) > 0]
    return min(speeds, default=None)
