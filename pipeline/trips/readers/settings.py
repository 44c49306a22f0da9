"""How a city's raw trace files are to be read: the key `traces` of configs/<city>.yaml.

{format: porto, kind: real, interval_s: 15, shards: 16, ...} -> PortoTraces(...)
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from pipeline.keys import Text
from pipeline.trips.readers.times import check_pattern

Seconds = Annotated[int, Meta(ge=1, le=86_400)]


# What simulated traces are called wherever they are shown.
SIMULATED_NAME = "simulated traces on a real network"


class TraceSource(Struct, frozen=True, forbid_unknown_fields=True):
    """Where real traces come from; copied into the city's data card.

    Attributes:
        city: Key of the city whose traces these are, so that a copied file cannot credit the data
            of another.
        name: Name of the data set.
        licence: Its licence, or the terms to read before publishing anything derived.
        attribution: The credit line or citation it asks for.
    """

    city: Text
    name: Text
    licence: Text
    attribution: str


class _Traces(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the settings of every format share.

    Attributes:
        kind: `real` traces, or `simulated` on the real network by the stage `simulate`; every
            cleaned trip says which.
        source: Data set, licence and credit of real traces; null for simulated ones, which have
            the licence and the credit of the network.
        coordinate_order: `as_format` takes longitude and latitude from where the format has them;
            `swapped` exchanges the two, for a file that was saved the wrong way round.
        shards: Parts the trips are dealt into (by a hash of their id); memory holds one part.
            About one per 30,000 trips, 4,096 at most. Changes the files a trip lies in, never its
            content.
        block_bytes: Text held at once while reading, in bytes; from 64 to 1 GiB.
    """

    kind: Literal["real", "simulated"]
    source: TraceSource | None
    coordinate_order: Literal["as_format", "swapped"]
    shards: Annotated[int, Meta(ge=1, le=4096)]
    block_bytes: Annotated[int, Meta(ge=64, le=1 << 30)]

    def __post_init__(self) -> None:
        if self.kind == "simulated" and self.source is not None:
            raise ValueError(
                "source: expected null for simulated traces, which have the licence and the credit"
                f" of the network, found {self.source.name!r}"
            )
        if self.kind == "real" and self.source is None:
            raise ValueError(
                "source: expected city, name, licence and attribution of the real traces, found"
                " null; state them, or `kind: simulated`"
            )
        if self.kind == "real" and self.source and "simulated" in self.source.name.lower():
            raise ValueError(
                f"source: expected the source of real traces, found {self.source.name!r}; state"
                " that, or `kind: simulated` and `source: null`"
            )


class PortoTraces(_Traces, frozen=True, tag_field="format", tag="porto"):
    """Porto's train.csv; `interval_s` is the time between two points of a POLYLINE (15 s)."""

    interval_s: Seconds


class CabspottingTraces(_Traces, frozen=True, tag_field="format", tag="cabspotting"):
    """The new_<cab>.txt files of cabspotting.

    Attributes:
        flip_reports: An occupancy that lasts so many reports or fewer between two of the other
            kind is noise and takes their value; 0 trusts every report.
        run_gap_s: A pause longer than this, in seconds, ends an occupied run although no report
            in between says `free`.
    """

    flip_reports: Annotated[int, Meta(ge=0)]
    run_gap_s: Annotated[float, Meta(gt=0)]


class TdriveTraces(_Traces, frozen=True, tag_field="format", tag="tdrive"):
    """T-Drive's <taxi>.txt files; `time_zone` is the zone of their clock (Asia/Shanghai)."""

    time_zone: str


class GeolifeTraces(_Traces, frozen=True, tag_field="format", tag="geolife"):
    """GeoLife's PLT files with labels.txt.

    Attributes:
        modes: Modes of transport to keep, as labels.txt words them.
        unlabelled: What to do with users who labelled nothing: `keep` (the speed rules of
            `cleaning` then decide) or `skip`.
    """

    modes: list[str]
    unlabelled: Literal["keep", "skip"]


class GpxTraces(_Traces, frozen=True, tag_field="format", tag="gpx"):
    """GPX 1.0 and 1.1 files; a track segment is a trip. A point without a time is not read.

    Attributes:
        time_zone: IANA zone of times that state none (UTC by the standard, local time with some
            recorders); null where every time states its own.
    """

    time_zone: str | None


class TableColumns(Struct, frozen=True, forbid_unknown_fields=True):
    """Which column of a table holds what.

    Attributes:
        trip: Id of the trip; the vehicle's column where a vehicle's whole trace is one.
        vehicle: Id of the vehicle: trips are then told apart by vehicle and trip. Null where there
            is no such column; an id in two places at once is then refused (`mixed_vehicles`).
        time: Time of the point.
        lon: Longitude in degrees; null where `point` names a column.
        lat: Latitude in degrees; null where `point` names a column.
        point: Position as WKT text (`POINT (24.94 60.17)`) or, in a GeoParquet file, as its
            geometry; null where `lon` and `lat` name columns.
    """

    trip: str
    vehicle: str | None
    time: str
    lon: str | None
    lat: str | None
    point: str | None

    def __post_init__(self) -> None:
        stated = (self.lon is not None, self.lat is not None, self.point is not None)
        if stated not in {(True, True, False), (False, False, True)}:
            raise ValueError(
                f"point: expected columns for lon and lat, or one for point, found lon {self.lon},"
                f" lat {self.lat} and point {self.point}"
            )


class TableTraces(_Traces, frozen=True, tag_field="format", tag="table"):
    """A CSV or Parquet table with one point per row.

    Attributes:
        pattern: File names to read, such as `*.csv` or `*.parquet`, at any depth and in any case
            of letters.
        delimiter: What separates the fields of a CSV row.
        decimal: Decimal sign of the numbers, a point or a comma.
        columns: Which column holds what.
        time: `epoch_s`, `epoch_ms`, `iso` (text such as 2013-07-01T00:00:58Z), or a pattern such
            as `%d/%m/%Y %H:%M:%S` (`times.check_pattern` lists what it may hold). A Parquet
            timestamp is taken as it is.
        time_zone: IANA zone of times that state none; null where every time states its own.
    """

    pattern: str
    delimiter: Literal[",", ";", "\t", "|"]
    decimal: Literal[".", ","]
    columns: TableColumns
    time: str
    time_zone: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time not in {"epoch_s", "epoch_ms", "iso"}:
            check_pattern(self.time)


class HoserTraces(_Traces, frozen=True, tag_field="format", tag="hoser"):
    """Trips already matched to a road network, as HOSER and LibCity publish them.

    Attributes:
        trajectories: Pattern of the trajectory tables, such as `traj*.csv`.
        roadmap: File name of the roads, such as `roadmap.geo`; roadmap.rel lies beside it.
        time_zone: IANA zone of times that state none; null where every time states its own.
    """

    trajectories: str
    roadmap: str
    time_zone: str | None


TracesSettings = (
    PortoTraces
    | CabspottingTraces
    | TdriveTraces
    | GeolifeTraces
    | GpxTraces
    | TableTraces
    | HoserTraces
)
