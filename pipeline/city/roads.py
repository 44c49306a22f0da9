"""Turn an OSM extract into the city's directed road segments, one row each.

    way 4217 "Rue Grimaldi" between junctions 11 and 13, two-way
    -> 4217:11:13 and 4217:13:11, with length, bearing, speed and geometry in driving direction

Only the largest strongly connected component is kept, so that every segment can be reached from
every other; the rest is rejected by name. A street has one spelling (`spelling.py`). Paper:
Appendix A.3.1, Table 9, "Road Segment".
"""

from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from pipeline.city.projection import geodesic
from pipeline.city.roadmap import geo_id
from pipeline.city.segments import Bools, Ints, Segments, directed_segments, largest_component
from pipeline.city.sources import BBox, NetworkConfig, RoadmapSource
from pipeline.city.speeds import tag_speed_kph
from pipeline.city.spelling import one_spelling
from pipeline.city.ways import DRIVABLE, DrivableWays, read_drivable_ways
from pipeline.errors import ParameterError, SourceError
from pipeline.keys import Text

WHOLE_WORLD: BBox = (-180.0, -90.0, 180.0, 90.0)
LOOP_CHORD_M = 1.0  # ends closer than this are one place: the chord has no direction


class RoadsReason(StrEnum):
    """Why a directed segment is not part of the city's roads."""

    OUTSIDE_COMPONENT = "outside_largest_component"


class RoadsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `roads` section of params.yaml.

    Attributes:
        class_speed_kph: Speed of each OSM highway class in km/h, for segments whose `maxspeed`
            says no number; every drivable class needs one.
        slowest_kph: Lowest `maxspeed` that is believed, km/h.
        fastest_kph: Highest `maxspeed` that is believed, km/h; beyond it the class's speed counts.
    """

    class_speed_kph: dict[str, Annotated[float, msgspec.Meta(ge=1, le=200)]]
    slowest_kph: Annotated[float, msgspec.Meta(ge=1, le=50)]
    fastest_kph: Annotated[float, msgspec.Meta(ge=50, le=200)]


class CityRoads(NamedTuple):
    """What `city_roads` makes: the kept segments, the rejected ones, and the counts of both.

    Attributes:
        roads: One row per kept segment, columns of schemas/road.schema.json, sorted by edge_id.
        rejected: item_id, stage, reason, detail of each segment outside the component.
        metrics: Record of schemas/roads_metrics.schema.json.
    """

    roads: pl.DataFrame
    rejected: pl.DataFrame
    metrics: dict[str, Any]


def city_roads(
    ways: DrivableWays, *, network: NetworkConfig, bbox: BBox, settings: RoadsSettings
) -> CityRoads:
    """Cut, connect and describe a city's drivable ways.

    Args:
        ways: What `read_drivable_ways` found in the extract.
        network: The city's network settings; a pre-matched road map keeps all its segments whole,
            unconnected ones and those outside the bbox too, since its trips may use them.
        bbox: West, south, east, north, degrees; ways are cut where they leave it.
        settings: Speeds.

    Raises:
        SourceError: No drivable road lies inside the bbox.
        ParameterError: A drivable class has no speed.
    """
    _require_speeds(settings, ways)
    prematched = isinstance(network.source, RoadmapSource)
    area = WHOLE_WORLD if prematched else bbox
    segments = directed_segments(ways, bbox=area, split=not prematched)
    if not len(segments.u):
        raise SourceError(
            f"osm/network.osm.pbf: expected drivable roads inside the bbox {list(bbox)}, found none"
            f" ({ways.table.height} drivable ways in the extract); check `bbox` (west, south, east,"
            " north) and `network.source`"
        )
    kept = (
        np.ones(len(segments.u), dtype=bool)
        if prematched
        else largest_component(segments.u, segments.v)
    )
    frame = _describe(segments, ways.table, settings, prematched=prematched)
    spelled = one_spelling(frame.filter(kept).sort("edge_id"))
    return CityRoads(
        roads=spelled.roads,
        rejected=_rejections(frame.filter(~kept)),
        metrics=_metrics(frame, kept, segments) | {"respelled": spelled.respelled},
    )


def _require_speeds(settings: RoadsSettings, ways: DrivableWays) -> None:
    needed = DRIVABLE | {"service"} | set(ways.table["highway"].unique())
    missing = sorted(needed - set(settings.class_speed_kph))
    if missing:
        raise ParameterError(
            f"params.yaml: roads.class_speed_kph: expected a speed for every drivable class, found"
            f" none for {', '.join(missing)}; add them in km/h"
        )


def _describe(
    segments: Segments, table: pl.DataFrame, settings: RoadsSettings, *, prematched: bool
) -> pl.DataFrame:
    """Return the segments as rows of road.schema.json."""
    rows = table[segments.way]
    start, end = _driven_ends(segments)
    bearing = _bearings(segments)
    frame = pl.DataFrame(
        {
            "way_id": rows["way_id"],
            "u": segments.u,
            "v": segments.v,
            "forward": segments.forward,
            "oneway": (rows["direction"] != 0),
            **{key: rows[key] for key in ("name", "name_en", "ref", "highway")},
            "length_m": segments.length_m,
            "bearing_deg": bearing,
            "bearing_sin": np.sin(np.radians(bearing)),
            "bearing_cos": np.cos(np.radians(bearing)),
            **_speeds(rows, settings),
            "u_lon": segments.lon[start],
            "u_lat": segments.lat[start],
            "v_lon": segments.lon[end],
            "v_lat": segments.lat[end],
            "geometry": _geometries(segments),
        }
    )
    if prematched:
        ids = pl.Series("edge_id", [str(geo_id(way)) for way in frame["way_id"]])
        return frame.with_columns(ids, way_id=pl.lit(None, pl.Int64))
    return frame.with_columns(edge_id=_edge_ids())


def _edge_ids() -> pl.Expr:
    """Return <way>:<u>:<v>, with :2, :3, ... when a way passes the same pair again."""
    base = pl.format("{}:{}:{}", "way_id", "u", "v")
    again = pl.int_range(1, pl.len() + 1).over("way_id", "u", "v")
    return pl.when(again == 1).then(base).otherwise(pl.format("{}:{}", base, again))


def _driven_ends(segments: Segments) -> tuple[Ints, Ints]:
    """Return the node entries where driving starts and ends."""
    first, last, forward = segments.first, segments.last, segments.forward
    return np.where(forward, first, last), np.where(forward, last, first)


def _bearings(segments: Segments) -> Any:
    """Return the bearing of each chord from start to end, [0, 360) degrees.

    In the plane the chord is the length-weighted mean of the steps' directions. A loop, whose
    ends are one place, has the bearing of its first step.
    """
    start, end = _driven_ends(segments)
    lon, lat = segments.lon, segments.lat
    bearing, chord = geodesic(lon[start], lat[start], lon[end], lat[end])
    after = start + np.where(segments.forward, 1, -1)
    first_step, _ = geodesic(lon[start], lat[start], lon[after], lat[after])
    return np.where(chord < LOOP_CHORD_M, first_step, bearing)


def _speeds(rows: pl.DataFrame, settings: RoadsSettings) -> dict[str, pl.Series]:
    tags = rows["maxspeed"].unique().to_list()
    by_tag = {tag: tag_speed_kph(tag) for tag in tags}
    tagged = rows["maxspeed"].replace_strict(by_tag, return_dtype=pl.Float64)
    believed = tagged.is_between(settings.slowest_kph, settings.fastest_kph).fill_null(value=False)
    by_class = rows["highway"].replace_strict(settings.class_speed_kph, return_dtype=pl.Float64)
    source = pl.select(pl.when(believed).then(pl.lit("maxspeed")).otherwise(pl.lit("class")))
    return {
        "speed_kph": tagged.zip_with(believed, by_class),
        "speed_source": source.to_series(),
    }


def _geometries(segments: Segments) -> pl.Series:
    """Return the WKB of each segment's line, lon/lat, in driving direction."""
    import shapely  # noqa: PLC0415 - slow import

    sizes = segments.last - segments.first + 1
    owner = np.repeat(np.arange(len(sizes)), sizes)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    step = np.where(segments.forward, 1, -1)
    start, _ = _driven_ends(segments)
    place = start[owner] + step[owner] * offset
    lines = shapely.linestrings(
        np.column_stack((segments.lon[place], segments.lat[place])), indices=owner
    )
    return pl.Series("geometry", list(shapely.to_wkb(lines, byte_order=1)), dtype=pl.Binary)


def _rejections(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        item_id="edge_id",
        stage=pl.lit("roads"),
        reason=pl.lit(str(RoadsReason.OUTSIDE_COMPONENT)),
        detail=pl.format(
            "{} {}, {} m", "highway", pl.col("name").fill_null("without a name"),
            pl.col("length_m").round(1),
        ),
    )  # fmt: skip


def _metrics(frame: pl.DataFrame, kept: Bools, segments: Segments) -> dict[str, Any]:
    roads = frame.filter(kept)
    classes = roads.group_by("highway").agg(pl.len(), pl.col("length_m").sum()).sort("highway")
    return {
        "segments": roads.height,
        "nodes": int(pl.concat([roads["u"], roads["v"]]).n_unique()),
        "length_km": round(float(roads["length_m"].sum()) / 1000, 3),
        "named_share": round(float(roads["name"].is_not_null().mean() or 0.0), 4),  # type: ignore[arg-type]
        "rejected_segments": int((~kept).sum()),
        "rejected_length_km": round(float(frame.filter(~kept)["length_m"].sum()) / 1000, 3),
        "dropped_way_nodes": segments.dropped_nodes,
        "zero_length_pieces": segments.zero_length,
        "classes": [
            {"highway": name, "segments": count, "length_km": round(length / 1000, 3)}
            for name, count, length in classes.iter_rows()
        ],
    }


def run(
    io: Any, *, network: NetworkConfig, name_tag: Text, bbox: BBox, roads: RoadsSettings
) -> None:
    """Read the extract, write the directed segments and their counts, reject the rest."""
    ways = read_drivable_ways(
        io.path("osm"), service_roads=network.service_roads, name_tag=name_tag
    )
    made = city_roads(ways, network=network, bbox=bbox, settings=roads)
    io.write("roads", made.roads)
    io.write_json("roads_metrics", made.metrics)
    io.reject(made.rejected)
