"""Match every cleaned trip of a city to its roads (paper 3.2.1).

    35 GPS points  ->  58 directed segments with entry times, or a rejection with a reason

Trips that come pre-matched skip the matcher: their segments are checked and adopted.
"""

import polars as pl

from pipeline.store import StageIO
from pipeline.trips.cleaning.settings import CleaningSettings
from pipeline.trips.drives import DriveSettings, drives_of, keep_good_drives
from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable
from pipeline.trips.matching.settings import MatchSettings
from pipeline.trips.prematched import adopt

POINT_COLUMNS = ("edge_id", "offset_m", "distance_m", "status")


def matcher_for(roads: pl.DataFrame, settings: MatchSettings) -> Matcher:
    """Build a city's matcher: its network and the table of shortest paths, once for all shards."""
    network = Network.from_frame(roads)
    table = PathTable.build(network, bound_m=settings.table_bound_m, max_mb=settings.table_max_mb)
    return Matcher(network, settings, table)


def match_trips(
    cleaned: pl.DataFrame,
    matcher: Matcher,
    roads: pl.DataFrame,
    drives: DriveSettings,
    cleaning: CleaningSettings,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Match some trips.

    Args:
        cleaned: Rows of `cleaned_trip`.
        matcher: The city's matcher.
        roads: The city's segments, for trips that come pre-matched.
        drives: Section `drives`.
        cleaning: The city's `cleaning`, whose least length and duration hold for drives cut by a
            break.

    Returns:
        The rows of `matched_trip`, sorted by id, those of `matched_points`, in the order of
        `cleaned`, and the rejections. All are empty for an empty input.
    """
    prematched = pl.col("edge_ids").list.len() > 0
    traces = cleaned.filter(~prematched)
    found = matcher.match(
        traces.select(trace_id="trip_id", t="t", lon="lon", lat="lat").explode("t", "lon", "lat")
    )
    adopted = cleaned.filter(prematched)
    adopted_path, adopted_trips = adopt(adopted, roads)
    tables = []
    for path, trips, method in (
        (found.path, found.trips, "hmm"),
        (adopted_path, adopted_trips, "prematched"),
    ):
        made, without = drives_of(path, trips, method=method)
        tables.append(keep_good_drives(made, trips, without, drives, cleaning))
    kept = pl.concat([_matched(kept, cleaned) for kept, _ in tables]).sort("trip_id")
    points = pl.concat([_hmm_points(found.points, found.trips), _adopted_points(adopted, roads)])
    points = cleaned.select("trip_id").join(points, on="trip_id", maintain_order="left")
    return kept, points, pl.concat([rejections for _, rejections in tables])


def _matched(kept: pl.DataFrame, cleaned: pl.DataFrame) -> pl.DataFrame:
    simulated = cleaned.select(cleaned_trip_id="trip_id", simulated="simulated")
    return kept.join(simulated, on="cleaned_trip_id", how="left").select(
        "trip_id", "cleaned_trip_id", "edge_ids", "t_enter_s", "t_exit_s", "evidence",
        "off_from_m", "off_to_m", "route_length_m", "confidence", "method", "simulated",
    )  # fmt: skip


def _hmm_points(points: pl.DataFrame, trips: pl.DataFrame) -> pl.DataFrame:
    lists = points.group_by("trace_id", maintain_order=True).agg(
        pl.col("edge_id").cast(pl.String),
        pl.col("offset_m", "distance_m").cast(pl.Float64).round(3),
        pl.col("status").cast(pl.String),
    )
    return _with_shares(lists, trips.select("trace_id", "matched_share", "parts", "reasons"))


def _adopted_points(adopted: pl.DataFrame, roads: pl.DataFrame) -> pl.DataFrame:
    rows = adopted.select(trace_id="trip_id", edge_id="edge_ids").explode("edge_id")
    known = pl.col("edge_id").is_in(roads["edge_id"].implode())
    rows = rows.with_columns(
        edge_id=pl.when(known).then("edge_id"),
        status=pl.when(known).then(pl.lit("matched")).otherwise(pl.lit("unknown_segment")),
    )
    zero = pl.when(pl.col("edge_id").is_not_null()).then(pl.lit(0.0))
    lists = rows.group_by("trace_id", maintain_order=True).agg(
        "edge_id", zero.alias("offset_m"), zero.alias("distance_m"), "status"
    )
    path, trips = adopt(adopted, roads)
    parts = path.group_by("trace_id").agg(parts=pl.col("part").n_unique())
    trips = trips.join(parts, on="trace_id", how="left").with_columns(pl.col("parts").fill_null(0))
    return _with_shares(lists, trips.select("trace_id", "matched_share", "parts", "reasons"))


def _with_shares(lists: pl.DataFrame, trips: pl.DataFrame) -> pl.DataFrame:
    return lists.join(trips, on="trace_id", how="left").select(
        pl.col("trace_id").alias("trip_id"),
        *POINT_COLUMNS,
        pl.col("matched_share").cast(pl.Float64).round(4),
        pl.col("parts").cast(pl.Int64),
        pl.col("reasons").cast(pl.List(pl.String)).alias("reasons"),
    )


def run(
    io: StageIO, *, match: MatchSettings, drives: DriveSettings, cleaning: CleaningSettings
) -> None:
    """Match every cleaned trip of a city, on all cores."""
    roads = io.read("roads")
    matcher = matcher_for(roads, match)
    with io.open_shards("matched") as matched, io.open_shards("matched_points") as points:
        for shard in io.progress(io.parts("cleaned"), None, "shard", "match"):
            waiting: list[pl.DataFrame] = []
            with matched.open() as trips, points.open() as located:
                for cleaned in shard:
                    made, placed, rejections = match_trips(
                        cleaned, matcher, roads, drives, cleaning
                    )
                    made = pl.concat([*waiting, made]).sort("trip_id")
                    # Cleaned trips come by id; of a drive's id that is only the beginning, and the
                    # next trip may stand before it: a, a_0, a_p2.
                    passed = pl.col("trip_id") <= pl.lit(cleaned["trip_id"].max(), pl.String)
                    trips.write(made.filter(passed))
                    waiting = [made.filter(~passed)]
                    located.write(placed)
                    io.reject(rejections)
                for made in waiting:
                    trips.write(made)
