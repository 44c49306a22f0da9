"""The check of a city's ground names what is wrong and how to mend it."""

import polars as pl
import pytest

from pipeline.city.diagnose import bbox_in_order, diagnose_ground, diagnose_place

HELSINKI = (24.925, 60.16, 24.96, 60.185)


def levels(findings) -> dict[str, str]:
    return {finding.what: finding.level for finding in findings}


@pytest.mark.parametrize(
    ("bbox", "zone"),
    [
        (HELSINKI, "Europe/Helsinki"),
        ((-8.7, 41.1, -8.5, 41.2), "Europe/Lisbon"),
        ((-122.55, 37.6, -122.35, 37.85), "America/Los_Angeles"),
        ((115.9, 39.5, 117.0, 40.5), "Asia/Shanghai"),
        ((-3.8, 40.3, -3.6, 40.5), "Europe/Madrid"),
        ((151.0, -34.0, 151.4, -33.6), "Australia/Sydney"),
    ],
)
def test_a_city_in_its_zone_raises_nothing(bbox, zone):
    assert levels(diagnose_place(bbox=bbox, time_zone=zone)) == {"time zone": "info"}


@pytest.mark.parametrize(
    ("bbox", "zone"),
    [
        (HELSINKI, "Europe/Helsinki"),
        ((-8.7, 41.1, -8.5, 41.2), "Europe/Lisbon"),
        ((-122.55, 37.6, -122.35, 37.85), "America/Los_Angeles"),
        ((115.9, 39.5, 117.0, 40.5), "Asia/Shanghai"),
    ],
)
def test_a_bbox_with_latitude_first_is_told_the_right_order(bbox, zone):
    west, south, east, north = bbox
    (finding,) = diagnose_place(bbox=(south, west, north, east), time_zone=zone)
    assert (finding.level, finding.what) == ("error", "bbox")
    assert f"bbox: [{west}, {south}, {east}, {north}]" in finding.remedy
    assert bbox_in_order((south, west, north, east), zone) == bbox
    assert bbox_in_order(bbox, zone) == bbox


def test_a_zone_on_another_continent_is_an_error_and_one_further_off_a_warning():
    far = diagnose_place(bbox=HELSINKI, time_zone="Asia/Tokyo")
    near = diagnose_place(bbox=(87.5, 43.7, 87.7, 43.9), time_zone="Asia/Shanghai")  # Urumqi
    assert (levels(far)["time zone"], levels(near)["time zone"]) == ("error", "warning")


@pytest.mark.parametrize("zone", ["Europe/Helsingfors", "", "Europe", "../../etc/passwd"])
def test_a_zone_that_does_not_exist_is_an_error(zone):
    (finding,) = diagnose_place(bbox=HELSINKI, time_zone=zone)
    assert (finding.level, finding.what) == ("error", "time_zone")


def test_a_bbox_in_the_wrong_order_and_one_of_a_country_are_found():
    west, south, east, north = HELSINKI
    assert levels(diagnose_place(bbox=(east, south, west, north), time_zone="Europe/Helsinki")) == {
        "bbox": "error"
    }
    large = diagnose_place(bbox=(20.0, 59.0, 31.0, 70.0), time_zone="Europe/Helsinki")
    assert levels(large)["bbox size"] == "warning"


def ground(*, names=("A",) * 4, pois=(1, 1), rejected=0, bbox=HELSINKI, district="D"):
    west, south, east, north = HELSINKI
    roads = pl.DataFrame(
        {"u_lon": [west, east, west, east], "u_lat": [south, south, north, north], "name": names},
        schema_overrides={"name": pl.String},
    )
    cells = pl.DataFrame(
        {"pois": [["p"] * n for n in pois], "natural": [[] for _ in pois],
         "district": [district for _ in pois]},
        schema={"pois": pl.List(pl.String), "natural": pl.List(pl.String), "district": pl.String},
    )  # fmt: skip
    return {
        finding.what: finding
        for finding in diagnose_ground(
            bbox=bbox, roads=roads, rejected_segments=rejected, cells=cells
        )
    }


def test_a_sound_ground_raises_nothing():
    assert {finding.level for finding in ground().values()} == {"info"}


@pytest.mark.parametrize(
    ("what", "changes", "found"),
    [
        ("unnamed roads", {"names": ("A", None, None, "B")}, "50.0%"),
        ("segments outside the connected network", {"rejected": 4}, "50.0%"),
        ("cells without any context", {"pois": (0, 0, 1)}, "66.7%"),
        ("cells without a district", {"district": None}, "100.0%"),
        ("roads inside the bbox", {"bbox": (24.925, 60.16, 24.95, 60.185)}, "50.0%"),
        ("part of the bbox that roads span", {"bbox": (24.0, 60.0, 25.0, 61.0)}, "0.1%"),
    ],
)
def test_each_weakness_is_a_warning_with_figure_and_remedy(what, changes, found):
    finding = ground(**changes)[what]
    assert (finding.level, finding.found) == ("warning", found)
    assert finding.remedy


def test_a_city_without_places_and_one_without_roads_are_told():
    assert ground(pois=(0, 0))["places"].level == "warning"
    roads = pl.DataFrame(schema={"u_lon": pl.Float64, "u_lat": pl.Float64, "name": pl.String})
    (finding,) = diagnose_ground(
        bbox=HELSINKI, roads=roads, rejected_segments=0, cells=pl.DataFrame()
    )
    assert finding.level == "error"
