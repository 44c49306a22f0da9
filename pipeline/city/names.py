"""List every name of the city: of its streets, driven or not, and of its places, areas, districts.

    way 4217 {highway: pedestrian, name: Kluuvikatu}, area w17 Kaisaniemen puisto
    ->  {name: "Kluuvikatu", kind: "road", id: "w4217", lon: 24.947, lat: 60.169},
        {name: "Kaisaniemen puisto", kind: "place", id: "w17", lon: 24.946, lat: 60.174}

Roads and cells hold what trips can pass; a text may name anything of the city. With this list a
name that is real but not on the trip is told from one that nobody knows (paper 3.3).
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from pipeline.city.osm_features import native_name
from pipeline.city.ways import highways
from pipeline.keys import Text
from pipeline.store import StageIO

Kind = Literal["road", "district", "place"]
# The kind that a name of several things is told as: the first of these.
KINDS: tuple[Kind, ...] = ("road", "district", "place")
_KIND_OF_TABLE: dict[str, Kind] = {
    "division_area": "district",
    "place": "place",
    "land_use": "place",
    "land": "place",
    "water": "place",
}
# What bears a name beside streets without being one: a stop's platform, and a single tree.
_NO_STREETS = frozenset({"platform"})
_NO_LAND = frozenset({"tree", "tree_row"})


class NamedThing(NamedTuple):
    """A thing with a name: id of its OSM object or feature, and a point of it in degrees."""

    name: str
    kind: Kind
    id: str
    lon: float
    lat: float


def list_names(streets: Iterable[NamedThing], context: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the names of a city, one row each: name, kind, id, lon, lat; sorted by name.

    Of the things that share a name the first stands for it, by kind (`KINDS`), then by id.

    Args:
        streets: As `named_streets` reads them.
        context: Tables place, land_use, land, water, division_area; each may be empty.
    """
    rows = [*streets]
    for table, kind in _KIND_OF_TABLE.items():
        rows += _named_features(context[table], kind)
    first: dict[str, NamedThing] = {}
    for one in sorted(rows, key=lambda one: (one.name, KINDS.index(one.kind), one.id)):
        first.setdefault(one.name, one)
    schema = dict.fromkeys(("name", "kind", "id"), pl.String())
    return pl.DataFrame(
        list(first.values()),
        schema={**schema, "lon": pl.Float64(), "lat": pl.Float64()},
        orient="row",
    )


def named_streets(extract: Path, *, name_tag: str) -> Iterator[NamedThing]:
    """Yield every named way with a `highway` tag, by car or on foot; its point is its middle node.

    Args:
        extract: OSM file (.osm.pbf or .osm).
        name_tag: OSM key of the native name; where a way lacks it, `name` counts.

    Raises:
        SourceError: The file is not readable as OSM data.
    """
    for way in highways(extract):
        name = native_name(dict(way.tags), name_tag)
        if name is None or way.tags["highway"] in _NO_STREETS:
            continue
        known = [node for node in way.nodes if node.location.valid()]
        if known:  # an extract may lack the nodes of a way at its edge
            middle = known[len(known) // 2]
            for one in _single(name):
                yield NamedThing(one, "road", f"w{way.id}", middle.lon, middle.lat)


def _named_features(table: pl.DataFrame, kind: Kind) -> Iterator[NamedThing]:
    """Yield the features of a context table that have a name; of an area a point within it."""
    import shapely  # noqa: PLC0415 - slow import

    named = table.with_columns(name=pl.col("names").struct.field("primary")).filter(
        pl.col("name").is_not_null()
    )
    if "class" in named.columns:
        named = named.filter(~pl.col("class").is_in(_NO_LAND))
    points = shapely.point_on_surface(shapely.from_wkb(named["geometry"].to_list()))
    for (name, number), point in zip(named.select("name", "id").iter_rows(), points, strict=True):
        for one in _single(name):
            yield NamedThing(one, kind, number, point.x, point.y)


def _single(name: str) -> Iterator[str]:
    """Yield the names of what OSM writes as "one;two": NFC, without outer or double blanks."""
    for part in name.split(";"):
        tidy = unicodedata.normalize("NFC", " ".join(part.split()))
        if tidy:
            yield tidy


def run(io: StageIO, *, name_tag: Text) -> None:
    """Read the named ways of the extract and the named features of the context, and list both."""
    context = {table: io.read(table) for table in _KIND_OF_TABLE}
    io.write("names", list_names(named_streets(io.path("osm"), name_tag=name_tag), context))
