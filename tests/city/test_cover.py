"""Segments over the H3 grid: lengths per cell, the dominant cell, ties."""

import h3
import numpy as np
import polars as pl
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.city.cover import cover_segments, road_cells
from pipeline.city.hexgrid import cell_name, cell_number, cells_at, centre, neighbours, outline
from pipeline.city.projection import UtmPlane, geodesic
from pipeline.schemas import check_rows
from tests.city.worlds import ORIGIN

RESOLUTION = 10
TOLERANCE = 0.5


def roads(**lines: list[tuple[float, float]]) -> pl.DataFrame:
    """Return segments with geodesic lengths."""
    rows = []
    for name, line in lines.items():
        lon, lat = np.array(line).T
        _, length = geodesic(lon[:-1], lat[:-1], lon[1:], lat[1:])
        wkb = bytes(shapely.to_wkb(shapely.LineString(line)))
        rows.append({"edge_id": name, "geometry": wkb, "length_m": float(length.sum())})
    schema = {"edge_id": pl.String, "geometry": pl.Binary, "length_m": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def covered(frame: pl.DataFrame) -> pl.DataFrame:
    return cover_segments(frame, resolution=RESOLUTION, tolerance_m=TOLERANCE)


def home() -> int:
    return int(cells_at(np.array([ORIGIN[0]]), np.array([ORIGIN[1]]), RESOLUTION)[0])


def test_h3_is_asked_with_latitude_first():
    assert cell_name(home()) == h3.latlng_to_cell(ORIGIN[1], ORIGIN[0], RESOLUTION)
    assert cell_number(cell_name(home())) == home()
    lon, lat = centre(home())
    assert (lat, lon) == h3.cell_to_latlng(cell_name(home()))
    assert outline(home()).contains(shapely.Point(lon, lat))


def test_a_cell_has_six_neighbours_and_a_pentagon_five():
    assert len(neighbours(home())) == 6
    assert home() not in neighbours(home())
    assert len(neighbours(int(next(iter(h3.api.basic_int.get_pentagons(3)))))) == 5


def test_no_points_have_no_cells():
    assert len(cells_at(np.array([]), np.array([]), RESOLUTION)) == 0


def test_a_segment_between_two_centres_lies_half_in_each():
    a, b = home(), neighbours(home())[0]
    made = covered(roads(x=[centre(a), centre(b)]))
    assert made["cell"].to_list() == [a, b]
    first, second = made["length_m"].to_list()
    assert first == pytest.approx(second, rel=0.02)
    row = road_cells(made, tolerance_m=5.0).row(0, named=True)
    assert row["cell"] == cell_name(min(a, b))  # equal to the tolerance: the lowest index


def test_both_directions_of_a_street_have_the_same_dominant_cell():
    line = [centre(home()), centre(neighbours(home())[2])]
    made = road_cells(covered(roads(there=line, back=line[::-1])), tolerance_m=TOLERANCE)
    back, there = made.to_dicts()
    assert there["cell"] == back["cell"]
    assert there["cells"] == back["cells"][::-1]
    assert there["cell_length_m"] == pytest.approx(back["cell_length_m"][::-1], abs=TOLERANCE)


def test_lengths_are_those_of_the_line_clipped_by_the_hexagons():
    lon, lat = centre(home())
    line = [(lon - 0.004, lat - 0.001), (lon + 0.001, lat + 0.0005), (lon + 0.005, lat - 0.002)]
    made = covered(roads(x=line))
    plane = UtmPlane(*ORIGIN)
    shape = plane.geometries(shapely.LineString(line))
    for cell, length in made.select("cell", "length_m").iter_rows():
        inside = plane.geometries(outline(cell)).intersection(shape).length
        assert length == pytest.approx(inside, abs=4 * TOLERANCE)


def test_no_roads_cover_no_cells():
    assert covered(roads()).is_empty()
    assert road_cells(covered(roads()), tolerance_m=TOLERANCE).is_empty()


place = st.tuples(
    st.floats(ORIGIN[0] - 0.005, ORIGIN[0] + 0.005), st.floats(ORIGIN[1] - 0.005, ORIGIN[1] + 0.005)
)


@settings(deadline=None, max_examples=40)
@given(st.lists(place, min_size=2, max_size=6))
def test_lengths_add_up_and_every_midpoint_of_a_piece_is_in_a_listed_cell(line):
    frame = roads(x=line)
    if frame["length_m"][0] < 0.1:
        return
    made = covered(frame)
    assert made["length_m"].sum() == pytest.approx(frame["length_m"][0])
    assert made["cell"].n_unique() == made.height
    row = road_cells(made, tolerance_m=TOLERANCE).row(0, named=True)
    check_rows("road_cell", [row], where="road_cells", first_row=0, key="edge_id")
    assert row["share"] >= 1 / len(row["cells"]) - TOLERANCE / frame["length_m"][0]
    shape = shapely.LineString(line)
    for share in (0.1, 0.35, 0.6, 0.85):
        lon, lat = shape.interpolate(share, normalized=True).coords[0]
        at = h3.latlng_to_cell(lat, lon, RESOLUTION)
        near = {at} | {c for c in h3.grid_disk(at, 1) if _metres(lon, lat, c) <= TOLERANCE}
        assert near & set(row["cells"])


def _metres(lon: float, lat: float, cell: str) -> float:
    plane = UtmPlane(*ORIGIN)
    outlines = plane.geometries(outline(cell_number(cell)))
    return float(outlines.distance(plane.geometries(shapely.Point(lon, lat))))


def test_the_plane_is_the_utm_zone_of_the_city():
    assert UtmPlane.around((24.93, 60.16, 24.96, 60.18)).epsg == 32635
    assert UtmPlane.around((7.4, 43.7, 7.5, 43.8)).epsg == 32632
    assert UtmPlane.around((-8.7, 41.1, -8.5, 41.2)).epsg == 32629
    assert UtmPlane.around((151.0, -34.0, 151.4, -33.6)).epsg == 32756
