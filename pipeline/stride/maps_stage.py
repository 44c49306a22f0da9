"""The two stages that make maps: cut them out of each city's extract, then put all together.

stride_cut@helsinki  ->  data/stride/cut/helsinki.parquet      maps of the places in params.yaml
stride_maps          ->  data/stride/maps.parquet              those of all cities, and pictures
                         data/stride/maps/<map_id>/map.npz     walls and mask, for other programs
                         data/stride/maps/<map_id>/map.png     to look at
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pipeline.artifacts import ARTIFACTS
from pipeline.city.projection import UtmPlane
from pipeline.city.sources import BBox
from pipeline.errors import ParameterError
from pipeline.keys import Text
from pipeline.params import CityEntry
from pipeline.store import StageIO
from pipeline.stride.image_maps import ImageSettings, maps_of_image
from pipeline.stride.maps import CrowdMap, MapSource, StrideMap, maps_frame, maps_of
from pipeline.stride.maps_files import write_map
from pipeline.stride.osm_ground import read_ground
from pipeline.stride.osm_maps import PlaceSettings, Plane, cut_maps
from pipeline.tables import read_table

STAGE = "stride_maps"
ROOT = Path(__file__).resolve().parents[2]


class MapSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `stride_maps` of params.yaml.

    Attributes:
        metres_per_px: Side of a pixel of the masks.
        places: Maps to be cut out of each city's extract, by city.
        images: Maps to be read out of pictures.
    """

    metres_per_px: Annotated[float, Meta(ge=0.1, le=2)]
    places: dict[str, list[PlaceSettings]]
    images: list[ImageSettings]


def cut(io: StageIO, *, stride_maps: MapSettings, name_tag: Text, bbox: BBox, city: str) -> None:
    """Cut a city's maps out of its extract."""
    places = stride_maps.places.get(city, [])
    _refuse_twins(city, (place.id for place in places))
    made: list[StrideMap] = []
    if places:
        ground = read_ground(io.path("osm"), name_tag=name_tag)
        plane = Plane(ground, UtmPlane.around(bbox))
        source = _source(io.read_json("osm_manifest"))
        size = stride_maps.metres_per_px
        for place in places:
            made += cut_maps(plane, place, city=city, metres_per_px=size, source=source)
    io.write("stride_cut_maps", maps_frame(made))


def _source(manifest: dict[str, Any]) -> MapSource:
    return MapSource(
        name="OpenStreetMap",
        licence=manifest["licence"],
        attribution=manifest["attribution"],
        date=manifest["release"],
    )


def run(io: StageIO, *, cities: dict[str, CityEntry], stride_maps: MapSettings) -> None:
    """Put the maps of all cities and pictures together and draw them."""
    for city in sorted(set(stride_maps.places) - set(cities)):
        print(
            f"{STAGE}: {city} is not under `cities:` of params.yaml; its places make no map",
            file=sys.stderr,
        )
    _refuse_twins("images", (image.id for image in stride_maps.images))
    made: list[StrideMap] = []
    for city in sorted(cities):
        made += maps_of(
            read_table(io.path("stride_cut_maps", city=city), ARTIFACTS["stride_cut_maps"])
        )
    for image in stride_maps.images:
        made += maps_of_image(image, root=ROOT, metres_per_px=stride_maps.metres_per_px)
    if not made:
        raise ParameterError(
            "params.yaml: stride_maps: expected at least one place or picture, found none; add a"
            " place under `places:`"
        )
    folder = io.path("stride_map_files")
    for one in made:
        write_map(CrowdMap(one), folder / one.map_id)
    io.write("stride_maps", maps_frame(made))


def _refuse_twins(where: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ParameterError(
                f"params.yaml: stride_maps: {where}: expected each id once, found {name!r} again;"
                " rename one of them"
            )
        seen.add(name)
