"""Checked trips and verdicts as records, read from tables and made into them again.

for trip in trips_in(frame): ...             rows of `checked_trip`  ->  CheckedTrip
verdicts_frame([JudgedTrip(...), ...])       ->  rows of `judged_trip`
"""

from collections.abc import Iterator, Sequence

import msgspec
import polars as pl

from pipeline.records import CheckedTrip, JudgedTrip
from pipeline.schemas import arrow_schema

# Trips in memory as records at a time; more are slower, as Python looks through all that live.
_TRIPS_AT_A_TIME = 64


def trips_in(frame: pl.DataFrame) -> Iterator[CheckedTrip]:
    """Yield the trips of a table of checked trips."""
    decoder = msgspec.json.Decoder(CheckedTrip)
    for part in frame.iter_slices(_TRIPS_AT_A_TIME):
        # By way of JSON: twice as fast as by Python's own values.
        yield from decoder.decode_lines(part.write_ndjson())


def verdicts_frame(verdicts: Sequence[JudgedTrip]) -> pl.DataFrame:
    """Return verdicts as rows of the schema `judged_trip`, in the order given."""
    schema = pl.Schema(arrow_schema("judged_trip"))
    return pl.DataFrame(msgspec.to_builtins(verdicts), schema=schema)
