"""Maps: grids and outlines, walls, anchors, OSM and pictures, and back from a table."""

import msgspec
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pipeline.city.osm_file import OsmNode, OsmObjects, OsmWay, write_osm
from pipeline.city.projection import UtmPlane
from pipeline.errors import ParameterError, SourceError
from pipeline.stride.image_maps import (
    ColourSettings,
    ImageSettings,
    SignSettings,
    classes_of,
    maps_of_image,
)
from pipeline.stride.importers.states import read_obstacles
from pipeline.stride.maps import CrowdMap, Obstacle, maps_frame, maps_of, rings_of
from pipeline.stride.maps_files import write_map
from pipeline.stride.osm_ground import read_ground
from pipeline.stride.osm_maps import PlaceSettings, Plane, cut_maps, sea_of
from pipeline.stride.pictures import PALETTE, draw_map, signs_of, walk_signs, with_legend
from pipeline.stride.raster import Grid, clearance_m, connected, outlines
from pipeline.stride.roadways import carriageway, foot_half_m, half_width_m
from pipeline.stride.walls import REACH_M, Walls
from tests.stride.places import CORNERS, HOUSE, SOURCE, map_of, square, square_ways

GRID = Grid(10.0, 6.0, 0.5)

# ---- grids ------------------------------------------------------------------------------------


def test_a_box_fills_the_pixels_whose_middle_it_covers():
    mask = GRID.filled(shapely.box(0, 0, 5, 2))
    assert mask.shape == (12, 20)
    assert mask.sum() == 10 * 4
    assert mask[0, 0]
    assert not mask[4, 0]


def test_row_0_is_the_south_edge_and_points_outside_get_the_nearest_pixel():
    row, column = GRID.pixels(np.array([[0.1, 0.1], [9.9, 5.9], [-3.0, 99.0]]))
    assert row.tolist() == [0, 11, 11]
    assert column.tolist() == [0, 19, 0]


def test_connected_is_what_hangs_together_by_sides():
    mask = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1]], dtype=bool)
    assert connected(mask, row=1, column=2).tolist() == [
        [False, False, False],
        [False, False, True],
        [False, False, True],
    ]


def test_clearance_is_in_metres_and_the_edge_is_no_outside():
    mask = np.ones((12, 20), dtype=bool)
    mask[:, 0] = False
    room = clearance_m(mask, GRID)
    assert room[0, 4] == pytest.approx(2.0)
    assert room[0, 19] == pytest.approx(9.5)


@given(st.integers(0, 6), st.integers(0, 3), st.integers(7, 10), st.integers(4, 6))
def test_the_outline_of_a_box_is_that_box(west, south, east, north):
    box = shapely.box(west, south, east, north)
    found = outlines(GRID.filled(box), GRID, tolerance_m=0.0, least_m2=0.1)
    assert len(found) == 1
    assert found[0].equals(box)


def test_small_specks_are_left_out_and_small_holes_filled():
    mask = GRID.filled(shapely.box(0, 0, 5, 5))
    mask[2, 2] = False
    mask[11, 19] = True
    found = outlines(mask, GRID, tolerance_m=0.0, least_m2=1.0)
    assert [polygon.area for polygon in found] == [25.0]
    assert not found[0].interiors


# ---- walls ------------------------------------------------------------------------------------

WALL = Walls(np.array([[0.0, 10.0, 5.0, 5.0]]))


def test_a_wall_is_as_far_away_as_it_is_and_pushes_straight_off():
    near = WALL.nearest(np.array([[5.0, 5.75], [5.0, 4.25], [10.6, 5.8]]))
    assert near.distance.tolist() == pytest.approx([0.75, 0.75, 1.0])
    assert near.away[:2].tolist() == [[0.0, 1.0], [0.0, -1.0]]
    assert near.away[2].tolist() == pytest.approx([0.6, 0.8])


def test_beyond_the_reach_there_is_no_wall():
    assert WALL.distance(np.array([[5.0, 5.0 + REACH_M + 0.01]])).tolist() == [np.inf]


def test_a_step_through_a_wall_is_seen_and_one_beside_it_is_not():
    before = np.array([[5.0, 4.8], [5.0, 4.8], [11.0, 4.8]])
    after = np.array([[5.0, 5.2], [6.0, 4.9], [11.0, 5.2]])
    assert WALL.crossed(before, after).tolist() == [True, False, False]


MILLIMETRES = st.integers(0, 20_000).map(lambda mm: mm / 1000)


@settings(max_examples=50)
@given(st.tuples(*[MILLIMETRES] * 4), st.tuples(MILLIMETRES, MILLIMETRES))
def test_the_nearest_wall_is_that_of_shapely(segment, point):
    x0, y0, x1, y1 = segment
    wall = shapely.LineString([(x0, y0), (x1, y1)])
    apart = wall.distance(shapely.Point(point))
    found = Walls(np.array([[x0, x1, y0, y1]])).distance(np.array([point]))[0]
    if apart < REACH_M - 1e-6:
        assert found == pytest.approx(apart, abs=1e-6)
    elif apart > REACH_M + 1e-6:
        assert found == np.inf


# ---- anchors ----------------------------------------------------------------------------------


def test_every_street_is_an_exit_with_its_name():
    names = {anchor.name for anchor in square().of_kind("exit")}
    assert names == {"North Street", "South Street", "West Street", "East Street"}


def test_a_door_has_the_name_of_its_building_and_a_stop_its_own():
    assert [anchor.name for anchor in square().of_kind("entrance")] == ["House"]
    assert [anchor.name for anchor in square().of_kind("stop")] == ["Market"]


def test_the_first_centre_lies_on_open_ground_of_a_named_area():
    centres = square().of_kind("centre")
    assert centres[0].name == "Toy Square"
    assert all(anchor.clearance_m >= 4 for anchor in centres)


def test_all_anchors_can_be_walked_to_from_each_other():
    ways, anchors = square_ways(), square().record.anchors
    places = np.array([[one.x_m, one.y_m] for one in anchors])
    for anchor in anchors:
        assert np.isfinite(ways.to_anchor(anchor.id).distance(places)).all()


def test_a_strip_along_the_edge_is_no_exit():
    shallow = map_of(60.0, 60.0, [shapely.box(0, 4, 60, 30)])
    assert all(anchor.y_m > 30 for anchor in shallow.anchors if anchor.kind == "exit")


def test_a_thin_slanted_fence_lets_no_way_through():
    fence = shapely.LineString([(0, 13), (60, 31)]).buffer(0.05, cap_style="flat")
    split = map_of(60.0, 60.0, [fence])
    row, column = split.grid.pixels(np.array([[30.0, 5.0], [30.0, 50.0]]))
    walkable = CrowdMap(split).walkable
    assert not (walkable[row[0], column[0]] and walkable[row[1], column[1]])


def test_a_place_of_obstacles_only_is_refused():
    with pytest.raises(ParameterError, match="where people can walk, found obstacles only"):
        map_of(40.0, 40.0, [shapely.box(0, 0, 40, 40)])


def test_a_map_comes_back_from_its_table_as_it_was():
    record = square().record
    assert maps_of(maps_frame([record])) == [record]


def test_written_walls_are_read_by_the_scorer(tmp_path):
    write_map(square(), tmp_path)
    assert read_obstacles(tmp_path / "map.npz").tolist() == square().segments.tolist()
    with np.load(tmp_path / "map.npz") as file:
        assert (file["walkable"] == square().walkable).all()
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.size[0] == 480
        assert picture.size[1] > 400
        drawn = np.asarray(picture.convert("RGB"))
    assert (drawn[:400] == np.asarray(draw_map(square()))).all()


# ---- OSM --------------------------------------------------------------------------------------

LON, LAT = 24.95, 60.17
# A degree at this latitude, metres.
EAST, NORTH = 55_600.0, 111_400.0


def node(number: int, x: float, y: float, **tags: str) -> OsmNode:
    return OsmNode(number, LON + x / EAST, LAT + y / NORTH, dict(tags))


def extract(tmp_path):
    """Write a town: a house of 20 x 20 m, a pond, a fence, a street, a stop, a tunnel.

    Mill Lane is 6.5 m wide and crossed at its middle by a footpath.
    """

    def ring(first: int, x: float, y: float, side: float):
        corners = [(0, 0), (side, 0), (side, side), (0, side)]
        return [node(first + k, x + dx, y + dy) for k, (dx, dy) in enumerate(corners)]

    corners = [
        node(90, -90, -90, shop="kiosk", name="Kiosk"),
        node(91, 90, 90, shop="books", name="Books"),
    ]
    nodes = [
        *ring(1, 10, 10, 20), *ring(11, -40, 10, 10), *ring(21, -40, -40, 10),
        node(31, -60, -20), node(32, 60, -20), node(41, -20, -60), node(42, -20, 60),
        node(51, 15, -10, highway="bus_stop", name="Old Mill"), node(61, 30, 20, entrance="main"),
        node(71, -35, 0), node(72, 5, 0),
        *corners,
    ]  # fmt: skip
    ways = [
        OsmWay(1, [1, 2, 3, 4, 1], {"building": "yes", "name": "Town Hall", "amenity": "townhall"}),
        OsmWay(2, [11, 12, 13, 14, 11], {"natural": "water"}),
        OsmWay(3, [21, 22, 23, 24, 21], {"building": "yes", "layer": "-1"}),
        OsmWay(4, [31, 32], {"barrier": "fence"}),
        OsmWay(5, [41, 42], {"highway": "residential", "name": "Mill Lane"}),
        OsmWay(6, [71, 72], {"highway": "footway", "footway": "crossing"}),
        OsmWay(7, [31, 72], {"highway": "raceway", "name": "Grand Prix"}),
    ]
    target = tmp_path / "network.osm.pbf"
    write_osm(target, OsmObjects(sorted(nodes), ways, []))
    return target


def cut(tmp_path, **changes) -> list:
    keys = {"id": "town", "name": "Town", "kind": "square", "lon": LON, "lat": LAT, "size_m": 160.0}
    plane = Plane(read_ground(extract(tmp_path), name_tag="name"), UtmPlane(LON, LAT))
    place = PlaceSettings(**(keys | changes))
    return cut_maps(plane, place, city="toy", metres_per_px=0.5, source=SOURCE)


def test_osm_buildings_water_and_fences_become_obstacles_and_tunnels_do_not(tmp_path):
    _, made = cut(tmp_path)
    areas = sorted((one.kind, round(shapely.Polygon(one.rings[0]).area)) for one in made.obstacles)
    assert [kind for kind, _ in areas] == ["barrier", "building", "water"]
    assert dict(areas)["building"] == pytest.approx(400, rel=0.02)
    assert dict(areas)["water"] == pytest.approx(100, rel=0.02)
    assert dict(areas)["barrier"] == pytest.approx(120 * 0.4, rel=0.05)


def test_osm_names_reach_anchors_and_streets(tmp_path):
    made = cut(tmp_path)[0]
    assert made.streets == ["Mill Lane"]
    by_kind = {anchor.kind: anchor.name for anchor in made.anchors if anchor.name}
    assert by_kind["stop"] == "Old Mill"
    assert by_kind["entrance"] == "Town Hall"
    assert by_kind["exit"] == "Mill Lane"


def test_a_place_with_a_road_is_cut_with_traffic_and_free_of_cars(tmp_path):
    driven, walked = cut(tmp_path)
    assert (driven.map_id, driven.roads) == ("toy_town", "driven")
    assert (walked.map_id, walked.roads) == ("toy_town_carfree", "walked")
    road = [shapely.Polygon(o.rings[0]) for o in driven.obstacles if o.kind == "roadway"]
    # 120 m and a round end of 3.25 m at both, less a crossing 4 m wide and round at its ends.
    assert sum(piece.area for piece in road) == pytest.approx(6.5 * (120 - 4) + 33.2, rel=0.02)
    assert len(road) == 3  # the crossing parts it, and the fence
    assert not [o for o in walked.obstacles if o.kind == "roadway"]


def test_with_traffic_people_cross_where_the_crossing_is_and_nowhere_else(tmp_path):
    driven, walked = (CrowdMap(one) for one in cut(tmp_path))
    on_lane, on_crossing = np.array([[60.0, 50.0]]), np.array([[60.0, 80.0]])
    for crowd_map, lane_is_free in ((driven, False), (walked, True)):
        ground = crowd_map.walkable
        assert ground[crowd_map.grid.pixels(on_lane)].tolist() == [lane_is_free]
        assert ground[crowd_map.grid.pixels(on_crossing)].tolist() == [True]


@pytest.mark.parametrize(
    ("tags", "half_m"),
    [
        ({"highway": "secondary", "lanes": "3"}, 4.875),
        ({"highway": "residential"}, 3.25),
        ({"highway": "service"}, 1.625),
        ({"highway": "service", "width": "7 m"}, 3.5),
        ({"highway": "service", "width": "narrow", "lanes": "2;3"}, 1.625),
        ({"highway": "primary", "lanes": "99999999"}, 3.25),
        ({"railway": "tram"}, 1.4),
        ({"highway": "pedestrian"}, None),
        ({"highway": "service", "area": "yes"}, None),
        ({"building": "yes"}, None),
    ],
)
def test_a_road_is_as_wide_as_it_says_or_as_its_lanes(tags, half_m):
    assert half_width_m(tags) == half_m


@pytest.mark.parametrize(
    ("tags", "half_m"),
    [
        ({"highway": "footway"}, 2.0),
        ({"highway": "cycleway"}, None),
        ({"highway": "cycleway", "foot": "designated"}, 2.0),
        ({"highway": "pedestrian", "area": "yes"}, None),
        ({"railway": "platform"}, 1.5),
        ({"highway": "residential"}, None),
    ],
)
def test_a_way_on_foot_has_the_width_of_its_kind(tags, half_m):
    assert foot_half_m(tags) == half_m


def test_a_crossing_that_is_a_point_reaches_from_kerb_to_kerb():
    road = shapely.LineString([(0, 0), (40, 0)])
    area = carriageway([(3.0, road)], on_foot=[], crossings=[shapely.Point(20, 0)])
    assert len(shapely.get_parts(area)) == 2
    assert not area.intersects(shapely.LineString([(20, -3), (20, 3)]))


def test_without_a_road_there_is_no_carriageway():
    assert carriageway([], on_foot=[shapely.box(0, 0, 1, 1)], crossings=[]).is_empty


def test_a_map_that_reaches_out_of_the_extract_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"toy\.town: .* m of it outside the extract"):
        cut(tmp_path, size_m=400.0)


COAST = [(-60, -60), (-60, 60), (0, 61)]  # land on the left of the way: in the west and north


@pytest.mark.parametrize(
    ("x", "y", "sea"), [(200, 0, 1.0), (-120, 0, 0.0), (0, 200, 0.0), (-60, 0, 0.5), (30, 30, 1.0)]
)
def test_the_sea_is_on_the_right_of_the_nearest_coast_even_where_none_is_in_sight(x, y, sea):
    frame = shapely.box(x - 20, y - 20, x + 20, y + 20)
    water = shapely.union_all(sea_of([shapely.LineString(COAST)], frame))
    assert water.area / frame.area == pytest.approx(sea)


def test_without_a_coast_there_is_no_sea():
    assert sea_of([], shapely.box(0, 0, 9, 9)) == []


# ---- pictures ---------------------------------------------------------------------------------


def picture_settings(tmp_path) -> ImageSettings:
    draw_map(square()).save(tmp_path / "square.png")
    palette = [
        ColourSettings("walkable", PALETTE["walkable"], 14),
        ColourSettings("building", PALETTE["building"], 25),
    ]
    return ImageSettings(
        "square", "Toy", "square", "square.png", 0.25, palette, 0.3, 3.0, [], SOURCE
    )


def test_a_map_read_from_its_own_picture_is_the_same_ground(tmp_path):
    (made,) = maps_of_image(picture_settings(tmp_path), root=tmp_path, metres_per_px=0.5)
    assert made.roads == "none"
    ours, read = square().walkable, CrowdMap(made).walkable
    assert (ours & read).sum() / (ours | read).sum() > 0.97
    solid = shapely.union_all([shapely.Polygon(one.rings[0]) for one in made.obstacles])
    truth = shapely.union_all([HOUSE, *CORNERS])
    assert solid.symmetric_difference(truth).area / truth.area < 0.03


def signs(crowd_map: CrowdMap) -> list[str]:
    return [sign.words for sign in signs_of(crowd_map)]


def test_a_legend_names_what_is_on_the_map_and_nothing_else():
    exits = [one for one in square().record.anchors if one.kind == "exit"]
    assert signs(square())[:3] == ["walkable ground", "out of reach", "building"]
    assert f"exit_1 to exit_{len(exits)}" in signs(square())
    assert not {"water", "barrier", "carriageway with traffic"} & set(signs(square()))
    lake = msgspec.structs.replace(
        square().record, obstacles=[Obstacle("water", rings_of(HOUSE))], anchors=[]
    )
    assert signs(CrowdMap(lake)) == ["walkable ground", "out of reach", "water"]
    paths = [sign.words for sign in walk_signs(square(), event=True)]
    assert paths[-3:] == ["path, from first to last moment", "last place of a person", "event"]
    assert not any(words.startswith("exit") for words in paths)


@pytest.mark.parametrize(("metres", "bar"), [(40, 5), (120, 20), (200, 20), (600, 100)])
def test_the_scale_bar_is_a_round_number_of_metres_at_the_maps_own_scale(metres, bar):
    bare = Image.new("RGB", (4 * metres, 100), PALETTE["walkable"])
    whole = np.asarray(with_legend(bare, signs_of(square())).convert("RGB")).astype(int)
    ink = (whole[100:] == (40, 38, 36)).all(axis=2)
    (row,) = {int(one) for one in np.flatnonzero(ink.sum(axis=1) >= 4 * bar)[:1]}
    columns = np.flatnonzero(ink[row])
    run = columns[columns < columns[0] + 4 * bar + 1]
    assert run[-1] - run[0] == 4 * bar
    assert (np.diff(run) == 1).all()


def test_a_legend_breaks_its_rows_in_a_narrow_picture():
    wide, narrow = (
        with_legend(Image.new("RGB", (width, 100)), signs_of(square())) for width in (2000, 160)
    )
    assert narrow.size[0] == 160
    assert narrow.size[1] > wide.size[1]


def test_lettering_and_symbols_take_the_class_around_them():
    palette = [ColourSettings("walkable", (255, 255, 255), 20),
               ColourSettings("water", (0, 0, 255), 20)]  # fmt: skip
    picture = np.full((20, 30, 3), 255.0)
    picture[:, 15:] = (0, 0, 255)
    picture[8:10, 3:9] = 0.0  # black letters on the ground
    picture[14:16, 6:8] = (0, 0, 255)  # a blue symbol
    classes = classes_of(picture, palette, least_px=5)
    assert (classes[:, :14] == 0).all()
    assert (classes[:, 16:] == 1).all()


def test_a_file_that_is_no_picture_is_refused(tmp_path):
    settings_ = picture_settings(tmp_path)
    (tmp_path / "square.png").write_text("no picture")
    with pytest.raises(SourceError, match="expected a picture"):
        maps_of_image(settings_, root=tmp_path, metres_per_px=0.5)


def test_a_picture_with_carriageways_gives_both_maps(tmp_path):
    palette = [
        ColourSettings("walkable", (255, 255, 255), 20), ColourSettings("roadway", (0, 0, 0), 20),
    ]  # fmt: skip
    picture = np.full((160, 160, 3), 255, np.uint8)
    picture[:, 70:90] = 0
    Image.fromarray(picture).save(tmp_path / "road.png")
    settings_ = ImageSettings(
        "road", "Toy", "square", "road.png", 0.5, palette, 0.0, 1.0, [], SOURCE
    )
    driven, walked = maps_of_image(settings_, root=tmp_path, metres_per_px=0.5)
    assert (driven.map_id, driven.roads) == ("image_road", "driven")
    assert (walked.map_id, walked.roads) == ("image_road_carfree", "walked")
    assert walked.walkable_m2 == 80 * 80
    assert driven.walkable_m2 < 35 * 80  # one side: nobody crosses


def test_a_picture_of_obstacles_only_is_refused(tmp_path):
    settings_ = picture_settings(tmp_path)
    stone = np.full((200, 200, 3), PALETTE["building"], np.uint8)
    Image.fromarray(stone).save(tmp_path / "square.png")
    with pytest.raises(ParameterError, match=r"images\.square: .* found obstacles only"):
        maps_of_image(settings_, root=tmp_path, metres_per_px=0.5)


def test_a_picture_of_other_colours_than_its_palette_is_refused(tmp_path):
    settings_ = picture_settings(tmp_path)
    Image.fromarray(np.full((200, 200, 3), (200, 30, 30), np.uint8)).save(tmp_path / "square.png")
    with pytest.raises(ParameterError, match="found 0% of its pixels like a colour"):
        maps_of_image(settings_, root=tmp_path, metres_per_px=0.5)


@pytest.mark.parametrize(("side_px", "metres"), [(1, "0.25"), (4000, "1000")])
def test_a_picture_too_small_or_too_large_for_a_map_is_refused(tmp_path, side_px, metres):
    settings_ = picture_settings(tmp_path)
    Image.new("RGB", (side_px, side_px), PALETTE["walkable"]).save(tmp_path / "square.png")
    with pytest.raises(ParameterError, match=f"40 to 600 m wide and high, found {metres} m"):
        maps_of_image(settings_, root=tmp_path, metres_per_px=0.5)


def test_a_picture_cut_short_is_refused(tmp_path):
    settings_ = picture_settings(tmp_path)
    whole = (tmp_path / "square.png").read_bytes()
    (tmp_path / "square.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="expected a picture, found image file is truncated"):
        maps_of_image(settings_, root=tmp_path, metres_per_px=0.5)


def test_a_palette_on_which_nobody_can_walk_is_refused():
    with pytest.raises(ValueError, match="expected a colour that is walkable"):
        ImageSettings(
            "x", "X", "square", "x.png", 0.25,
            [ColourSettings("building", (1, 1, 1), 9), ColourSettings("water", (9, 9, 9), 9)],
            0.3, 3.0, [], SOURCE,
        )  # fmt: skip


def test_a_sign_outside_its_picture_is_refused(tmp_path):
    sign = SignSettings("stop", "Far Mill", 481, 10)
    settings_ = msgspec.structs.replace(picture_settings(tmp_path), signs=[sign])
    with pytest.raises(ParameterError, match="found 'Far Mill' outside"):
        maps_of_image(settings_, root=tmp_path, metres_per_px=0.5)
