"""An Overpass pull against a real server on the loopback: what is asked, what comes back."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest

from pipeline.city.extract import describe_extract, fetch_extract
from pipeline.city.osm_features import read_features
from pipeline.city.sources import NetworkConfig, OverpassSource
from pipeline.errors import SourceError
from tests.city.worlds import BBOX, at

DATE = "2025-01-01T00:00:00Z"


def node(number: int, place: tuple[float, float], **tags: str) -> dict[str, Any]:
    lon, lat = at(*place)
    return {
        "type": "node",
        "id": number,
        "lon": lon,
        "lat": lat,
        **({"tags": tags} if tags else {}),
    }


ROADS = [
    node(1, (0, 0)),
    node(2, (1, 0)),
    {"type": "way", "id": 10, "nodes": [1, 2], "tags": {"highway": "residential"}},
]
# Node 1 comes twice, as it does when two queries meet it.
FEATURES = [
    node(1, (0, 0)),
    node(5, (0.5, 0.1), amenity="cafe", name="Café de Paris"),
    {"type": "way", "id": 20, "nodes": [1, 2], "tags": {"boundary": "administrative"}},
    {
        "type": "relation",
        "id": 30,
        "members": [{"type": "way", "ref": 20, "role": "outer"}],
        "tags": {"type": "boundary", "boundary": "administrative", "admin_level": "10"},
    },
]


class Server(ThreadingHTTPServer):
    """A server that notes the queries and gives the replies it was told."""

    daemon_threads = True
    queries: list[str]
    status: int = 200
    roads: dict[str, Any]
    features: dict[str, Any]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = parse_qs(body)["data"][0]
        self.server.queries.append(query)
        self.reply(self.server.roads if '"highway"' in query else self.server.features)

    def do_GET(self) -> None:
        asked = parse_qs(urlparse(self.path).query)["q"][0]
        west, south, east, north = BBOX
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        place = {
            "place_id": 1, "osm_type": "relation", "osm_id": 1, "lat": "43.7", "lon": "7.4",
            "class": "boundary", "type": "administrative", "place_rank": 8, "importance": 0.5,
            "addresstype": "city", "name": asked, "display_name": asked,
            "boundingbox": [str(south), str(north), str(west), str(east)],
            "geojson": {"type": "Polygon", "coordinates": [ring]},
        }  # fmt: skip
        self.reply([place])

    def reply(self, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Keep the test's output quiet."""


@pytest.fixture
def server(monkeypatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Server(("127.0.0.1", 0), Handler)
    made.queries, made.roads, made.features = [], {"elements": ROADS}, {"elements": FEATURES}
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def source(server: Server, place: str | None = None) -> OverpassSource:
    address = f"http://127.0.0.1:{server.server_address[1]}"
    return OverpassSource(
        place=place, endpoint=f"{address}/api", geocoder=f"{address}/", date=DATE, timeout_s=20,
        rate_limit=False, licence="ODbL-1.0", attribution="(c) OpenStreetMap contributors",
    )  # fmt: skip


def test_a_snapshot_is_asked_for_by_date_and_kept_as_it_came(tmp_path, server):
    target = tmp_path / "network.osm.pbf"
    asked = source(server)
    fetch_extract(asked, target, bbox=BBOX, name_tag="name")
    assert len(server.queries) == 2
    assert all(f'[date:"{DATE}"]' in query and "[timeout:20]" in query for query in server.queries)
    manifest = describe_extract(
        target, network=NetworkConfig(source=asked, service_roads=False), bbox=BBOX
    )
    assert manifest["counts"] == {"nodes": 3, "ways": 2, "relations": 1, "drivable_ways": 1}
    assert manifest["release"] == DATE
    found = read_features(target)
    assert [thing.tags["name"] for thing in found.points] == ["Café de Paris"]
    assert list(found.relations) == ["r30"]


def test_a_place_is_asked_for_by_its_own_polygon(tmp_path, server):
    target = tmp_path / "network.osm.pbf"
    fetch_extract(source(server, "Toytown"), target, bbox=(0, 0, 1, 1), name_tag="name")
    assert all("poly:" in query and "43.71" in query for query in server.queries)
    assert target.exists()


def fault_of(tmp_path, asked: OverpassSource) -> str:
    with pytest.raises(SourceError) as fault:
        fetch_extract(asked, tmp_path / "network.osm.pbf", bbox=BBOX, name_tag="name")
    assert "\n" not in str(fault.value)
    return str(fault.value)


def test_an_empty_reply_is_a_source_error(tmp_path, server):
    server.roads = server.features = {"elements": []}
    assert f"expected OSM objects for {list(BBOX)} on {DATE}, found none" in fault_of(
        tmp_path, source(server)
    )


def test_a_reply_that_ran_out_of_time_is_a_source_error(tmp_path, server):
    server.features = {"elements": [], "remark": "runtime error: Query timed out"}
    assert "runtime error: Query timed out" in fault_of(tmp_path, source(server))


def test_a_server_that_refuses_is_a_source_error(tmp_path, server):
    server.status = 400
    assert "expected a whole reply, found 400" in fault_of(tmp_path, source(server))


def test_a_server_out_of_reach_is_a_source_error(tmp_path, server):
    asked = source(server)
    unreachable = type(asked)(**{
        **{name: getattr(asked, name) for name in asked.__struct_fields__},
        "endpoint": "http://127.0.0.1:9/api",
    })  # fmt: skip
    assert "check the network" in fault_of(tmp_path, unreachable)
