"""Area descriptions read back: the same parts, and zones that the words stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.city.categories import COMMERCIAL
from pipeline.city.geotag import GEO_TAGS
from pipeline.language.areas import Area, CityAreas, lies_in, read_area, touches
from pipeline.language.vocabulary import vocabulary
from tests.language.towns import block, town
from tests.language.trips import area, cell_of

WORDS = vocabulary()
ZONES = {zone.code: zone for zone in WORDS.zones}
word = st.text("abcdefghij ", min_size=1, max_size=12).map(str.strip).filter(bool)
words = st.lists(word, unique=True, max_size=4)
hostile = st.one_of(
    st.text(min_size=1, max_size=30),
    st.sampled_from(
        ["A | B", "District: X", "x | District: y", "Facilities: cafe | GNN: no", "a, b"]
    ),
)


@given(
    st.sampled_from(GEO_TAGS), words, st.sets(st.sampled_from(COMMERCIAL)), words,
    st.one_of(st.none(), hostile),
)  # fmt: skip
def test_reading_is_the_inverse_of_wording_whatever_the_district(
    geo_tag, natural, commercial, facilities, district
):
    groups = sorted(commercial)
    desc = area(
        geo_tag, natural=natural, commercial=groups, facilities=facilities, district=district
    )
    assert read_area(desc) == Area(
        geo_tag, tuple(natural), tuple(groups), tuple(facilities), district
    )


@given(st.text(max_size=80))
def test_any_text_can_be_read(desc):
    read_area(desc)


def test_nothing_known_is_an_empty_area():
    assert read_area("") == Area("", (), (), (), None)


def test_a_description_of_a_district_alone_has_no_other_part():
    assert read_area("District: Baixa") == Area("", (), (), (), "Baixa")


@pytest.mark.parametrize(
    ("desc", "zones"),
    [
        (area("WATERFRONT"), {"waterside"}),
        (area("COASTAL/BEACH", natural=["water"]), {"coast"}),
        (area("GREEN/PARK"), {"green"}),
        (area(natural=["park", "tree"]), {"urban", "green"}),
        (area(natural=["tree"]), {"urban"}),
        (area(commercial=["shopping"]), {"urban"}),
        (area(commercial=["dining", "services", "shopping"]), {"urban", "shops"}),
        (area("GREEN/PARK", natural=["forest"], commercial=["dining", "entertainment"]),
         {"green", "woods", "nightlife"}),
        ("", set()),
    ],
)  # fmt: skip
def test_an_area_lies_in_the_zones_its_words_stand_for(desc, zones):
    read = read_area(desc)
    assert {code for code, zone in ZONES.items() if lies_in(read, zone)} == zones


def test_what_shows_a_little_of_a_zone_touches_it_without_lying_in_it():
    shop = read_area(area("GREEN/PARK", commercial=["shopping"]))
    assert not lies_in(shop, ZONES["shops"])
    assert touches(shop, ZONES["shops"])
    assert touches(shop, ZONES["urban"])
    assert not touches(shop, ZONES["waterside"])


def test_facts_hold_kinds_of_places_once_and_leave_out_what_nobody_asks_for():
    city = CityAreas(town([block()]).cells, WORDS)
    facts = city.facts(area(facilities=["cafe", "coffee shop", "memorial", "pharmacy"]))
    assert facts.facilities == ("cafe", "pharmacy")


def test_only_zones_of_the_city_that_no_cell_touches_are_avoided():
    cells = town([block(), block(geo_tag="GREEN/PARK"), block(geo_tag="WATERFRONT")]).cells
    city = CityAreas(cells, WORDS)
    assert city.zones_present == ("urban", "waterside", "green")
    assert city.avoided([cell_of(0)]) == ["waterside", "green"]
    assert city.avoided([cell_of(0), cell_of(2)]) == ["green"]
    assert city.avoided([cell_of(0), cell_of(1), cell_of(2)]) == []


def test_a_word_that_the_description_leaves_out_still_counts_as_touched():
    said = block(natural=["forest", "grass", "park", "scrub", "tree"])
    said["cell"]["description"] = area(natural=["tree"])
    city = CityAreas(town([said, block("Rua A", geo_tag="GREEN/PARK")]).cells, WORDS)
    assert city.facts(area(natural=["tree"])).zones == ("urban",)
    assert "green" not in city.avoided([cell_of(0)])


def test_of_an_unknown_cell_nothing_is_avoided():
    city = CityAreas(town([block(geo_tag="GREEN/PARK")]).cells, WORDS)
    assert city.avoided(["8ffffffffffffff"]) == []


def test_a_city_without_cells_has_no_zones():
    city = CityAreas(town([]).cells, WORDS)
    assert city.zones_present == ()
    assert city.avoided([]) == []
