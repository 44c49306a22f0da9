"""What seems no name of the city may be one of it, spelled or cut otherwise; or not."""

import pytest

from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import SmallTown, town_of


def helsinki() -> SmallTown:
    """Return a town with names of several languages, one trip through some of them."""
    roads = ["Annankatu", "Lönnrotinkatu", "Kaivokatu", "Pohjoinen Makasiinikatu",
             "Avenue John F. Kennedy", "Boulevard de Belgique", "Rue Princesse Ada",
             "Simonkatu"]  # fmt: skip
    trip = planned_trip(
        phased_trip(*(step([road]) for road in roads)),
        places=[place(2, "Hotel St. George"), place(3, "Lycée Technique et Hôtelier")],
    )
    elsewhere = ["Vuorikatu", "Hämeentie", "Mannerheimintie", "Eteläinen Makasiinikatu",
                 "Rue Jean-François Bosio"]  # fmt: skip
    return town_of(trip, roads=elsewhere, city="Helsinki")


TOWN = helsinki()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Avenue J.F. Kennedy", "Avenue John F. Kennedy"),
        ("Av. J. F. Kennedy", "Avenue John F. Kennedy"),
        ("avenue j.f. kennedy", "Avenue John F. Kennedy"),
        ("Avenue JF Kennedy", "Avenue John F. Kennedy"),
        ("Loennrotinkatu", "Lönnrotinkatu"),
        ("Belgique, Boulevard de", "Boulevard de Belgique"),
    ],
)
def test_another_way_to_write_a_name_is_that_name_without_a_flag(written, name):
    text = f"We drive over {written}, then to Simonkatu."
    assert [one.name for one in TOWN.mentions(text)] == [name, "Simonkatu"]
    assert TOWN.rules(text) == []


@pytest.mark.parametrize(
    ("written", "name"),
    [("Rue J.-F. Bosio", "Rue Jean-François Bosio"), ("Haemeentie", "Hämeentie")],
)
def test_another_way_to_write_a_name_of_the_city_is_off_route(written, name):
    assert [one.name for one in TOWN.mentions(f"Along {written}, please.")] == [name]
    assert TOWN.rules(f"Along {written}, please.") == ["off_route_name"]


def test_a_street_may_be_cut_to_a_letter_and_a_full_stop():
    assert TOWN.verdicts("Over Kaivok. please") == {"Kaivok": "grounded"}
    assert TOWN.verdicts("Over Vuorik. please") == {"Vuorik": "off_route"}
    assert TOWN.verdicts("Over Zanzik. please") == {"Zanzik": "invented"}
    assert TOWN.verdicts("Over Kaivok please") == {"Kaivok": "invented"}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Avenue JFK", "Avenue John F. Kennedy"),
        ("JFK", "Avenue John F. Kennedy"),
        ("Kennedy", "Avenue John F. Kennedy"),
        ("Avenue J. Kennedy", "Avenue John F. Kennedy"),
        ("Makasiinikatu", "Pohjoinen Makasiinikatu"),
        ("St. George", "Hotel St. George"),
        ("Lycée Technique", "Lycée Technique et Hôtelier"),
    ],
)
def test_a_part_that_one_name_of_the_trip_has_is_flagged(written, name):
    text = f"We drive by {written}, then to Simonkatu."
    assert [one.name for one in TOWN.mentions(text)] == [name, "Simonkatu"]
    assert TOWN.rules(text) == ["short_name"]


@pytest.mark.parametrize(
    "written",
    ["Avenue R.F. Kennedy", "Avenue J.R. Kennedy", "Rue J.F. Kennedy", "Lycée Hôtelier",
     "Loennbergkatu", "Technique", "St. Nicholas", "Ada", "Boulevard d'Ada",
     "Katu Makasiini", "Läntinen Makasiinikatu"],
)  # fmt: skip
def test_what_no_name_of_the_trip_could_be_stays_invented(written):
    text = f"We drive by {written}, then to Simonkatu."
    assert "invented" in TOWN.verdicts(text).values()


def test_a_part_of_two_names_of_the_trip_is_neither():
    steps = (step(["Pohjoinen Rantakatu"]), step(["Eteläinen Rantakatu"]), step(["Kaivokatu"]))
    town = town_of(planned_trip(phased_trip(*steps)))
    assert town.verdicts("Along Rantakatu.") == {"Rantakatu": "invented"}


def test_initials_that_two_names_of_the_city_share_are_flagged():
    trip = planned_trip(phased_trip(step(["Rua A"]), step(["Rua João Maria Lopes"])))
    assert town_of(trip).rules("To Rua J. M. Lopes.") == []
    assert town_of(trip, roads=["Rua José Manuel Lopes"]).rules("To Rua J. M. Lopes.") == [
        "short_name"
    ]


def test_a_first_word_that_ends_as_streets_of_the_city_do_is_a_name():
    assert TOWN.verdicts("Siltasarenkatu to Simonkatu.") == {
        "Siltasarenkatu": "invented",
        "Simonkatu": "grounded",
    }
    # "Sortie" ends like Hämeentie, but leaves too little for a street; no road here ends in -gatan.
    assert TOWN.verdicts("Sortie to Simonkatu.") == {"Simonkatu": "grounded"}
    assert TOWN.verdicts("Zanzibargatan to Simonkatu.") == {"Simonkatu": "grounded"}


def test_unseen_characters_within_a_name_are_their_own_fault_alone():
    assert TOWN.rules("Over Kaivo\u200bkatu to Simonkatu.") == ["invisible"]
    assert "invented_name" not in TOWN.rules("Over Boulevard\u2060 de Belgique to Simonkatu.")
    assert TOWN.rules("Over Zan\u200bzibar to Simonkatu.") == ["invented_name", "invisible"]
