"""Ask an Overpass server, through OSMnx, for a city as it was on one day.

    {place: "Monaco", date: 2025-01-01T00:00:00Z, endpoint: https://.../api}
    -> OsmObjects: every road, POI, land-use, natural and administrative object with its nodes

OSMnx sends the queries (its polygons, pauses and retries) and keeps the server's replies in its
cache folder; the replies are taken from there as they came, before OSMnx would simplify them.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.city.osm_file import OsmNode, OsmObjects, OsmRelation, OsmWay
from pipeline.city.sources import BBox, OverpassSource
from pipeline.errors import SourceError

ROADS = '["highway"]["area"!~"yes"]'
# What `context: {source: {kind: osm_tags}}` reads, beside the roads.
FEATURE_KEYS = (
    "amenity", "shop", "tourism", "leisure", "office", "healthcare", "historic",
    "landuse", "natural", "waterway", "place", "public_transport",
)  # fmt: skip
DISTRICTS = {"boundary": "administrative"}


def pull_overpass(source: OverpassSource, bbox: BBox) -> OsmObjects:
    """Fetch roads and features of the place, or of the bbox where no place is named.

    Raises:
        SourceError: The geocoder or the server gave no usable reply.
    """
    with tempfile.TemporaryDirectory() as folder:
        polygon = _configured_polygon(source, bbox, folder)
        _keep_replies(source, polygon)
        replies = [json.loads(file.read_text("utf-8")) for file in Path(folder).glob("*.json")]
    # The geocoder's replies lie in the same cache; they are lists.
    answers = [reply for reply in replies if isinstance(reply, dict)]
    elements = [element for answer in answers for element in answer.get("elements", [])]
    remarks = [answer["remark"] for answer in answers if "remark" in answer]
    if remarks or not elements:
        raise SourceError(
            f"{source.endpoint}: expected OSM objects for {source.place or list(bbox)} on"
            f" {source.date}, found {remarks[0] if remarks else 'none'}; check the place, the bbox"
            " and timeout_s"
        )
    return _objects(elements)


def _configured_polygon(source: OverpassSource, bbox: BBox, folder: str) -> Any:
    """Point OSMnx at the source's servers and cache folder; return the area to ask for."""
    import osmnx  # noqa: PLC0415 - seconds to import
    import shapely  # noqa: PLC0415 - slow import

    osmnx.settings.use_cache = True
    osmnx.settings.cache_folder = folder
    osmnx.settings.overpass_url = source.endpoint
    osmnx.settings.nominatim_url = source.geocoder
    osmnx.settings.overpass_rate_limit = source.rate_limit
    osmnx.settings.requests_timeout = source.timeout_s
    osmnx.settings.overpass_settings = (
        f'[out:json][timeout:{{timeout}}]{{maxsize}}[date:"{source.date}"]'
    )
    place = source.place
    if place is None:
        return shapely.box(*bbox)
    frame = _ask(source, lambda: osmnx.geocode_to_gdf(place))
    return frame.geometry.iloc[0]


def _keep_replies(source: OverpassSource, polygon: Any) -> None:
    """Send the queries; OSMnx stops after each reply is in its cache."""
    import osmnx  # noqa: PLC0415 - seconds to import

    tags: dict[str, Any] = dict.fromkeys(FEATURE_KEYS, True) | DISTRICTS
    requests: tuple[Callable[[], Any], ...] = (
        lambda: osmnx.graph_from_polygon(polygon, custom_filter=ROADS, retain_all=True),
        lambda: osmnx.features_from_polygon(polygon, tags),
    )
    osmnx.settings.cache_only_mode = True
    try:
        for request in requests:
            _ask(source, request)
    finally:
        osmnx.settings.cache_only_mode = False


def _ask(source: OverpassSource, request: Callable[[], Any]) -> Any:
    import requests  # noqa: PLC0415 - OSMnx's own client

    try:
        return request()
    except InterruptedError:  # OSMnx's word for "the reply is in the cache, as you asked"
        return None
    except (requests.RequestException, ValueError, TypeError) as fault:
        raise SourceError(
            f"{source.endpoint}: expected a reply for {source.place or 'the bbox'}, found"
            f" {' '.join(str(fault).split())[:300]}; check the network and network.source"
        ) from fault


def _objects(elements: list[dict[str, Any]]) -> OsmObjects:
    nodes: dict[int, OsmNode] = {}
    ways: dict[int, OsmWay] = {}
    relations: dict[int, OsmRelation] = {}
    for element in elements:
        number, tags = element["id"], element.get("tags", {})
        if element["type"] == "node":
            nodes[number] = OsmNode(number, element["lon"], element["lat"], tags)
        elif element["type"] == "way":
            ways[number] = OsmWay(number, element["nodes"], tags)
        else:
            members = [(m["type"][0], m["ref"], m["role"]) for m in element["members"]]
            relations[number] = OsmRelation(number, members, tags)
    return OsmObjects(sorted(nodes.values()), sorted(ways.values()), sorted(relations.values()))
