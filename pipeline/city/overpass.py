"""Ask an Overpass server, through OSMnx, for a city as it was on one day.

    {place: "Monaco", date: 2025-01-01T00:00:00Z, endpoint: https://.../api}
    -> OsmObjects: every road, POI, land-use, natural and administrative object with its nodes

OSMnx sends the queries (its polygons, pauses and retries); the server's replies are taken as they
come, before OSMnx would simplify them, and none may be missing.
"""

from collections.abc import Callable
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
BUSY = frozenset({429, 504})  # OSMnx waits and asks again


def pull_overpass(source: OverpassSource, bbox: BBox) -> OsmObjects:
    """Fetch roads and features of the place, or of the bbox where no place is named.

    Raises:
        SourceError: The geocoder or the server gave no usable reply.
    """
    replies = _Replies(source)
    _configure(source, replies)
    polygon = _polygon(source, bbox)
    _send(source, polygon)
    elements = replies.elements()
    if not elements:
        raise SourceError(
            f"{source.endpoint}: expected OSM objects for {source.place or list(bbox)} on"
            f" {source.date}, found none; check the place and the bbox"
        )
    return _objects(elements)


class _Replies:
    """The server's replies as they arrive; a refusal or a remark is a SourceError, not a gap."""

    def __init__(self, source: OverpassSource) -> None:
        self._source = source
        self._elements: list[dict[str, Any]] = []
        self._fault = ""

    def note(self, response: Any, *_: Any, **__: Any) -> None:
        """Keep one reply (a hook of the HTTP client); OSMnx itself waits and repeats busy ones."""
        if response.request.method != "POST" or response.status_code in BUSY:
            return
        try:
            content = response.json()
            remark = content.get("remark", "")  # "runtime error: Query timed out in ..."
            self._elements += content["elements"]
        except (ValueError, KeyError, AttributeError):
            remark = "a reply that is no Overpass JSON"
        if not response.ok or remark:
            self._fault = f"{response.status_code} {remark or response.reason}"

    def elements(self) -> list[dict[str, Any]]:
        """Return the elements of all replies; those met by two queries come twice."""
        if self._fault:
            raise SourceError(
                f"{self._source.endpoint}: expected a whole reply, found {self._fault}; raise"
                " network.source.timeout_s or make the area smaller"
            )
        return self._elements


def _configure(source: OverpassSource, replies: _Replies) -> None:
    """Point OSMnx at the source's servers and at the list of replies."""
    import osmnx  # noqa: PLC0415 - seconds to import

    osmnx.settings.use_cache = False
    osmnx.settings.overpass_url = source.endpoint
    osmnx.settings.nominatim_url = source.geocoder
    osmnx.settings.overpass_rate_limit = source.rate_limit
    osmnx.settings.requests_timeout = source.timeout_s
    osmnx.settings.requests_kwargs = {"hooks": {"response": replies.note}}
    osmnx.settings.overpass_settings = (
        f'[out:json][timeout:{{timeout}}]{{maxsize}}[date:"{source.date}"]'
    )


def _polygon(source: OverpassSource, bbox: BBox) -> Any:
    """Return the area to ask for, in degrees."""
    import osmnx  # noqa: PLC0415 - seconds to import
    import shapely  # noqa: PLC0415 - slow import

    place = source.place
    if place is None:
        return shapely.box(*bbox)
    frame = _ask(source, lambda: osmnx.geocode_to_gdf(place))
    return frame.geometry.iloc[0]


def _send(source: OverpassSource, polygon: Any) -> None:
    """Send the queries; OSMnx stops once the replies are in, before it builds a graph."""
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
    except InterruptedError:  # OSMnx's word for "the replies are in, and you wanted no more"
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
