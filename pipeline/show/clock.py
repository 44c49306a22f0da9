"""Instants and lengths as a person reads them.

local_clock(1372636858.0, "Europe/Lisbon")  ->  "01:00:58"
length_words(4412.0)                        ->  "4.41 km"
"""

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.errors import ParameterError, SourceError


def _local(t: float, time_zone: str) -> datetime:
    try:
        zone = ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError) as fault:
        raise ParameterError(
            f"time_zone: expected an IANA zone such as Europe/Lisbon, found {time_zone!r}; mend"
            " configs/<city>.yaml"
        ) from fault
    try:
        return datetime.fromtimestamp(t, tz=zone)
    except (ValueError, OverflowError, OSError) as fault:
        raise SourceError(
            f"expected UTC epoch seconds of the years 1 to 9999, found {t:g}; are the raw times in"
            " milliseconds? See `traces.time` in configs/<city>.yaml"
        ) from fault


def local_clock(t: float, time_zone: str) -> str:
    """Return the local time of day of a UTC epoch second, such as `01:00:58`."""
    return _local(t, time_zone).strftime("%H:%M:%S")


def local_day(t: float, time_zone: str) -> str:
    """Return the local day of a UTC epoch second, such as `Mon 1 Jul 2013`."""
    moment = _local(t, time_zone)
    return f"{moment:%a} {moment.day} {moment:%b %Y}"


def duration_words(seconds: float) -> str:
    """Return a duration as the phases word it: `8 min 15 sec`, `1 h 2 min 5 sec`, `0 sec`."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if hours:
        return f"{hours} h {minutes} min {rest} sec"
    return f"{minutes} min {rest} sec" if minutes else f"{rest} sec"


def length_words(length_m: float) -> str:
    """Return a length: metres below one kilometre, kilometres with two decimals above."""
    return f"{length_m:.0f} m" if length_m < 1000 else f"{length_m / 1000:.2f} km"
