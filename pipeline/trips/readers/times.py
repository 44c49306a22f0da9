"""Turn written times into UTC epoch seconds; a time without a zone needs a stated one.

epoch_seconds(["2013-07-01T00:00:58Z"], None)               -> [1372636858.0]
epoch_seconds(["2008-02-02 15:36:08"], "Asia/Shanghai")     -> [1201937768.0]
patterned_seconds(["1/5/2024 10:00:00"], "%d/%m/%Y %H:%M:%S", "Europe/Helsinki")  -> [1714546800.0]
"""

import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from pipeline.errors import ParameterError

_STATED_ZONE = r"(?:[zZ]|[+-]\d{2}:?\d{2})$"


# Directives of a pattern that both Python's and Polars' documentation give the same meaning.
_DIRECTIVES = frozenset("YymdbBjHIMSpfzTRF%")


def check_pattern(pattern: str) -> None:
    """Raise ValueError for a pattern that names no full date and clock, or knows other directives.

    The day comes as %d, %m (or %b, %B) and %Y (or %y), or as %F; the clock as %H (or %I and %p)
    and %M, or as %T or %R. Fractions of a second are .%f, a zone is %z.
    """
    found = re.findall(r"%(.?)", pattern)
    unknown = [f"%{one}" for one in found if one not in _DIRECTIVES or not one]
    known = set(found)
    day = "F" in known or (known & set("Yy") and (known & set("mbB") and "d" in known))
    clock = known & set("TR") or ("M" in known and ("H" in known or {"I", "p"} <= known))
    fraction = "%f" not in pattern.replace(".%f", "")
    if unknown or not day or not clock or not fraction:
        wrong = f" ({', '.join(unknown)} is none it knows)" if unknown else ""
        raise ValueError(
            "time: expected epoch_s, epoch_ms, iso or a pattern with day and clock such as"
            f" %d/%m/%Y %H:%M:%S, found {pattern!r}{wrong}"
        )


def patterned_seconds(texts: pl.Series, pattern: str, time_zone: str | None) -> pl.Series:
    """Parse times as a pattern of `check_pattern` writes them; see `epoch_seconds`."""
    chrono = pattern.replace(".%f", "%.f")
    text = texts.cast(pl.String).str.strip_chars()
    if "%z" in pattern:
        zoned = text.str.replace(r"[zZ]$", "+0000")
        moments = zoned.str.to_datetime(chrono, time_unit="us", time_zone="UTC", strict=False)
        return moments.dt.epoch("us").cast(pl.Float64) / 1e6
    return naive_seconds(text.str.to_datetime(chrono, time_unit="us", strict=False), time_zone)


def epoch_seconds(texts: pl.Series, time_zone: str | None) -> pl.Series:
    """Parse ISO times (T or blank between date and time) to UTC epoch seconds.

    A text that is no time gives null. An hour that the zone's clock shows twice is taken as the
    first one; an hour it never shows gives null.

    Args:
        texts: Times as text.
        time_zone: IANA zone of the times that state none, or None.

    Raises:
        ParameterError: Some time states no zone and `time_zone` is None, or there is no such zone.
    """
    text = pl.col("text").str.strip_chars().str.replace(" ", "T", literal=True)
    parsed = pl.DataFrame({"text": texts}, schema={"text": pl.String}).with_columns(text)
    parsed = parsed.with_columns(
        zoned=pl.when(pl.col("text").str.contains(_STATED_ZONE))
        .then(pl.col("text").str.replace(r"(\d{2})(\d{2})$", "$1:$2"))
        .str.to_datetime("%+", time_unit="us", time_zone="UTC", strict=False),
        naive=pl.when(~pl.col("text").str.contains(_STATED_ZONE))
        .then(pl.col("text"))
        .str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False),
    )
    local = naive_seconds(parsed["naive"], time_zone)
    zoned = parsed["zoned"].dt.epoch("us").cast(pl.Float64) / 1e6
    return pl.select(pl.coalesce(zoned, local)).to_series()


def naive_seconds(times: pl.Series, time_zone: str | None) -> pl.Series:
    """Turn datetimes without a zone into UTC epoch seconds; see `epoch_seconds`."""
    if time_zone is None:
        if times.null_count() < times.len():
            raise ParameterError(
                "traces.time_zone: expected the IANA zone of times that state none, such as"
                f" {times.drop_nulls()[0]}, found null; name the zone of the recorder's clock"
                " (UTC where it is that)"
            )
        return pl.Series([None] * times.len(), dtype=pl.Float64)
    local = times.dt.replace_time_zone(
        check_zone(time_zone), ambiguous="earliest", non_existent="null"
    )
    return local.dt.epoch("us").cast(pl.Float64) / 1e6


def check_zone(time_zone: str) -> str:
    """Return the name of a zone, or raise ParameterError when there is none of that name."""
    try:
        ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError) as fault:
        raise ParameterError(
            f"traces.time_zone: expected an IANA zone such as Europe/Lisbon, found {time_zone!r}"
        ) from fault
    return time_zone
