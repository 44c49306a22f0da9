"""Reading and writing OSM files, on a map of our own with every kind of way."""

from pathlib import Path

import polars as pl
import pytest

from bench.network import read_osm_network
from bench.peers.osm_file import write_osm_file
from tests.bench.towns import square_town

# A ring 1-2-3-4-1 whose sides differ in kind, a bend 5 in the middle of 1-2, a dead end nobody
# can leave (4 -> 6), and ways no car may use.
MAP = """<osm version="0.6">
{nodes}
<way id="10" version="1"><nd ref="1"/><nd ref="5"/><nd ref="2"/>
  <tag k="highway" v="residential"/></way>
<way id="11" version="1"><nd ref="2"/><nd ref="3"/>
  <tag k="highway" v="primary"/><tag k="oneway" v="yes"/></way>
<way id="12" version="1"><nd ref="4"/><nd ref="3"/>
  <tag k="highway" v="service"/><tag k="oneway" v="-1"/></way>
<way id="13" version="1"><nd ref="4"/><nd ref="1"/>
  <tag k="highway" v="tertiary"/><tag k="junction" v="roundabout"/></way>
<way id="14" version="1"><nd ref="4"/><nd ref="6"/>
  <tag k="highway" v="motorway_link"/></way>
<way id="15" version="1"><nd ref="1"/><nd ref="3"/><tag k="highway" v="footway"/></way>
<way id="16" version="1"><nd ref="2"/><nd ref="4"/>
  <tag k="highway" v="residential"/><tag k="access" v="private"/></way>
</osm>"""
PLACES = {1: (0, 0), 2: (2, 0), 3: (2, 2), 4: (0, 2), 5: (1, 1), 6: (0, 3)}


@pytest.fixture
def osm_map(tmp_path: Path) -> Path:
    nodes = "\n".join(
        f'<node id="{n}" version="1" lon="{-8.6 + x / 1000}" lat="{41.1 + y / 1000}"/>'
        for n, (x, y) in PLACES.items()
    )
    file = tmp_path / "town.osm"
    file.write_text(MAP.format(nodes=nodes))
    return file


def test_directions_follow_the_tags_and_dead_ends_without_return_are_dropped(
    osm_map: Path,
) -> None:
    network = read_osm_network(osm_map)
    assert set(network.select("u", "v").rows()) == {(1, 2), (2, 1), (2, 3), (3, 4), (4, 1)}
    assert dict(network.select("highway", "speed_kph").rows())["primary"] == 50


def test_the_two_directions_of_a_street_are_ids_2k_and_2k_plus_1(osm_map: Path) -> None:
    network = read_osm_network(osm_map)
    ids = {(u, v): edge for edge, u, v in network.select("edge_id", "u", "v").rows()}
    assert ids[1, 2] % 2 == 0
    assert ids[2, 1] == ids[1, 2] + 1
    assert network["edge_id"].n_unique() == len(network)


def test_without_service_roads_the_ring_is_cut(osm_map: Path) -> None:
    network = read_osm_network(osm_map, with_service=False)
    assert set(network.select("u", "v").rows()) == {(1, 2), (2, 1)}


def test_a_network_written_for_the_peers_reads_back_with_the_same_streets(tmp_path: Path) -> None:
    town = square_town(3, 100.0)
    ways = write_osm_file(town, tmp_path / "town.osm.pbf")
    back = read_osm_network(tmp_path / "town.osm.pbf")
    assert len(ways) == len(town) / 2
    assert sorted(back["length_m"].round(0)) == sorted(town["length_m"].round(0))
    named = {way.forward_edge for way in ways} | {way.backward_edge for way in ways}
    assert named == set(town["edge_id"])


def test_a_one_way_edge_is_written_as_a_one_way_street(tmp_path: Path) -> None:
    town = square_town(2, 100.0).filter(pl.col("edge_id") != 1001)
    ways = write_osm_file(town, tmp_path / "town.osm.pbf")
    assert [way.backward_edge for way in ways if way.forward_edge == 1000] == [-1]
