"""Pre-matched road maps (roadmap.geo / .rel) become an extract whose segments keep their ids."""

from pathlib import Path

import polars as pl
import pytest

from pipeline.city.extract import describe_extract, fetch_extract
from pipeline.city.roadmap import read_roadmap
from pipeline.city.roads import city_roads
from pipeline.city.sources import NetworkConfig, RoadmapSource, sha256_of
from pipeline.city.ways import read_drivable_ways
from pipeline.errors import SourceError
from tests.city.settings_for_tests import ROADS
from tests.city.worlds import BBOX, at, world

GEO = "geo_id,type,coordinates,highway,maxspeed,u,v\n"
REL = "rel_id,type,origin_id,destination_id\n"


def line(*places: tuple[float, float]) -> str:
    return '"[' + ", ".join(f"[{lon}, {lat}]" for lon, lat in (at(*p) for p in places)) + ']"'


def source(folder: Path, geo: str, rel: str, *, osm: Path | None = None) -> RoadmapSource:
    (folder / "roadmap.geo").write_text(GEO + geo, encoding="utf-8")
    (folder / "roadmap.rel").write_text(REL + rel, encoding="utf-8")
    return RoadmapSource(
        geo=str(folder / "roadmap.geo"),
        geo_sha256=sha256_of(folder / "roadmap.geo"),
        rel=str(folder / "roadmap.rel"),
        rel_sha256=sha256_of(folder / "roadmap.rel"),
        highway_codes={"4": "residential", "9": "footway", "12": "track"},
        osm=str(osm) if osm else None,
        osm_sha256=sha256_of(osm) if osm else None,
        date="2024",
        licence="ODbL-1.0",
        attribution="(c) OpenStreetMap contributors",
    )


TWO = (
    f"0,LineString,{line((0, 0), (0.5, 0.1), (1, 0))},4,50,1,2\n"
    f"7,LineString,{line((1, 0), (2, 0))},4,,2,3\n"
)


def pulled(folder: Path, roadmap: RoadmapSource) -> Path:
    target = folder / "network.osm.pbf"
    fetch_extract(roadmap, target, bbox=BBOX, name_tag="name")
    return target


def test_a_segment_of_a_road_map_keeps_its_own_id_and_shape(tmp_path):
    roadmap = source(tmp_path, TWO, "0,geo,0,7\n")
    network = NetworkConfig(source=roadmap, service_roads=False)
    target = pulled(tmp_path, roadmap)
    ways = read_drivable_ways(target, service_roads=False, name_tag="name")
    roads = city_roads(ways, network=network, bbox=BBOX, settings=ROADS).roads
    # Neither segment can be driven back, so neither is in a cycle: a road map is kept whole.
    assert roads.select("edge_id", "way_id", "u", "v", "speed_kph", "speed_source").rows() == [
        ("0", None, 1, 2, 50.0, "maxspeed"),
        ("7", None, 2, 3, 36.0, "class"),
    ]
    assert roads["oneway"].all()
    assert describe_extract(target, network=network, bbox=BBOX)["kind"] == "roadmap"


def test_a_road_map_is_kept_whole_whatever_class_or_bbox_say(tmp_path):
    far = f"8,LineString,{line((0, 0), (900, 0), (1, 1))},12,,4,5\n"
    roadmap = source(tmp_path, TWO + far, "0,geo,0,7\n")
    network = NetworkConfig(source=roadmap, service_roads=False)
    ways = read_drivable_ways(pulled(tmp_path, roadmap), service_roads=False, name_tag="name")
    roads = city_roads(ways, network=network, bbox=BBOX, settings=ROADS).roads
    assert roads.select("edge_id", "highway").rows()[2] == ("8", "track")


def test_names_are_joined_from_osm_by_the_end_nodes_and_the_rest_comes_along(tmp_path):
    osm = world(
        tmp_path,
        nodes={1: (0, 0), 5: (0.5, 0), 2: (1, 0), 3: (2, 0), 8: (3, 3, {"amenity": "cafe"})},
        ways={70: ([1, 5, 2], {"highway": "residential", "name": "Rua Direita"})},
    )
    roadmap = source(tmp_path, TWO, "0,geo,0,7\n", osm=osm)
    target = pulled(tmp_path, roadmap)
    ways = read_drivable_ways(target, service_roads=False, name_tag="name")
    assert ways.table["name"].to_list() == ["Rua Direita", None]
    network = NetworkConfig(source=roadmap, service_roads=False)
    counts = describe_extract(target, network=network, bbox=BBOX)["counts"]
    # Nodes: three ends, one bend, the cafe, and node 5 that lost its road.
    assert (counts["nodes"], counts["ways"]) == (6, 2)


@pytest.mark.parametrize(
    ("geo", "rel", "message"),
    [
        (TWO, "0,geo,0,8\n", "expected segments of roadmap.geo, found the pair 0, 8"),
        (TWO, "0,geo,7,0\n", "expected segment 0 to start where 7 ends"),
        (TWO.replace(",4,50,", ",5,50,"), "", "geo_id 0: expected a highway code"),
        (TWO.replace(",4,50,", ",9,50,"), "", "'9' -> 'footway'"),
        (TWO.replace("7,LineString", "0,LineString"), "", "expected every geo_id once"),
        ('3,LineString,"os.system(1)",4,,1,2\n', "", "geo_id 3: expected coordinates"),
        ('3,LineString,"[[7.42, 43.73]]",4,,1,2\n', "", "expected two points, found 1"),
    ],
)
def test_a_broken_road_map_is_one_source_error(tmp_path, geo, rel, message):
    with pytest.raises(SourceError) as fault:
        pulled(tmp_path, source(tmp_path, geo, rel))
    assert message in str(fault.value)


@pytest.mark.parametrize("name", ["roadmap.geo", "roadmap.rel"])
def test_a_byte_that_is_no_utf_8_is_named_with_file_and_line(tmp_path, name):
    roadmap = source(tmp_path, TWO, "0,geo,0,7\n")
    file = tmp_path / name
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b"e", "é".encode("latin1"), 1)]))
    with pytest.raises(SourceError) as fault:
        read_roadmap(Path(roadmap.geo), Path(roadmap.rel), roadmap.highway_codes)
    assert str(fault.value).startswith(
        f"{file}: expected text in UTF-8, found the byte 0xe9 in line {len(lines)}; convert"
    )


@pytest.mark.parametrize(
    ("rel", "message"),
    [
        ("0,geo,0,7,9,9\n", "roadmap.rel: expected a CSV file, found "),
        ("0,geo,0,seven\n", "roadmap.rel: expected whole numbers, found "),
    ],
)
def test_a_table_that_is_none_is_told_in_one_line(tmp_path, rel, message):
    roadmap = source(tmp_path, TWO, rel)
    with pytest.raises(SourceError) as fault:
        read_roadmap(Path(roadmap.geo), Path(roadmap.rel), roadmap.highway_codes)
    assert message in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_road_map_without_a_column_is_refused(tmp_path):
    roadmap = source(tmp_path, TWO, "")
    pl.read_csv(roadmap.geo).drop("u").write_csv(roadmap.geo)
    with pytest.raises(SourceError, match="expected sha256"):
        pulled(tmp_path, roadmap)
    with pytest.raises(SourceError, match=r"found no u"):
        read_roadmap(Path(roadmap.geo), Path(roadmap.rel), roadmap.highway_codes)
