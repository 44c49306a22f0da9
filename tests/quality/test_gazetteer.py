"""Names that only the list of all names holds: known in full, never in the way of a trip's own."""

import pytest

from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import porto, porto_trip, town_of

PORTO = porto()  # has the street Rua Pedonal and the park Jardim do Morro, where no trip passes


def town(*listed: tuple[str, str], **tables):
    return town_of(porto_trip(), listed=listed, **tables)


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Drive along Rua Pedonal.", "Rua Pedonal", "road"),
        ("past the rua pedonal", "rua pedonal", "road"),
        ("Stop at Jardim do Morro.", "Jardim do Morro", "place"),
        ("Stop at Jardim Morro.", "Jardim Morro", "place"),
    ],
)
def test_a_real_name_where_no_trip_passes_is_off_route_and_not_invented(text, name, kind):
    (mention,) = PORTO.mentions(text)
    assert (mention.text, mention.verdict, mention.kind) == (name, "off_route", kind)
    assert mention.method == "city_exact"
    assert (mention.id, mention.lon, mention.lat) == ("w0" if kind == "road" else "w1", -8.6, 41.1)
    assert PORTO.rules(text) == ["off_route_name"]


def test_a_text_may_keep_off_such_a_street():
    assert PORTO.rules("Avoid Rua Pedonal.") == []
    assert PORTO.rules("Avoid Rua Inventada.") == ["invented_name"]


@pytest.mark.parametrize(
    "text",
    [
        "Past the opera.",
        "Past the impasse.",
        "Go by the morro.",
        "So Yes, go on.",
        "past a happy story",
    ],
)
def test_short_forms_mere_types_and_ordinary_words_name_nothing_elsewhere(text):
    listed = [("Praça da Opera", "road"), ("Impasse", "road"), ("Jardim do Morro", "place"),
              ("Yes", "place"), ("Happy Story", "place")]  # fmt: skip
    assert town(*listed).mentions(text) == []


def test_where_a_name_that_trips_can_pass_is_written_so_that_name_is_meant():
    # A statue called "Boavista" leaves the short form of the avenue to the avenue.
    assert town(("Boavista", "place")).verdicts("Via Boavista.") == {"Boavista": "grounded"}
    assert town(("Boavista", "place")).rules("Via Boavista.") == ["short_name"]
    assert town(("Avenida Boavista", "road")).rules("Via Avenida Boavista.") == []


def test_a_name_of_the_trip_stays_its_own_though_the_list_has_it_too():
    listed = [("Rua Direita", "place"), ("Café Central", "road"), ("Porto", "district")]
    same = town(*listed)
    text = "From Porto by Rua Direita to Café Central."
    assert same.mentions(text) == town().mentions(text)
    assert len(same.inspector.names) == len(town().inspector.names)


def test_the_longest_name_wins_whichever_table_has_it():
    longer = town(("Rua Direita do Sol", "road"))
    assert longer.verdicts("End on Rua Direita do Sol.") == {"Rua Direita do Sol": "off_route"}
    assert longer.verdicts("End on Rua Direita.") == {"Rua Direita": "grounded"}


def test_the_order_of_the_list_changes_nothing():
    listed = [("Largo Um", "road"), ("Largo um", "place"), ("Largo UM", "district")]
    text = "Via Largo Um."
    assert town(*listed).mentions(text)[0].name == town(*listed[::-1]).mentions(text)[0].name


@pytest.mark.parametrize("joiner", ["&", "and", "ja", "och", "et", "und", "+"])
def test_a_name_may_be_joined_by_any_sign_or_word_for_and(joiner):
    trip = porto_trip()
    town = town_of(trip, places=["Bar & Grill Zeta", "Ben and Jorry's", "Kukka ja Koru", "Yy + Uu"])
    for one, other in (("Bar", "Grill Zeta"), ("Ben", "Jorry's"), ("Kukka", "Koru"), ("Yy", "Uu")):
        (mention,) = town.mentions(f"To {one} {joiner} {other}.")
        assert (mention.verdict, mention.method) == ("off_route", "city_exact")


def test_a_joined_name_without_its_joiner_is_flagged():
    trip = planned_trip(
        phased_trip(step(["Rua A"]), step(["Rua B"])), places=[place(1, "Maya Bar & Grill")]
    )
    town = town_of(trip)
    assert town.rules("To Maya Bar and Grill.") == []
    assert town.rules("To Maya Bar Grill.") == ["short_name"]
    assert town.verdicts("To Maya Bar or Grill Zanzi.") != {"Maya Bar or Grill": "grounded"}


def test_and_between_two_names_joins_none():
    assert PORTO.verdicts("Along Rua Direita and Avenida da Boavista.") == {
        "Rua Direita": "grounded",
        "Avenida da Boavista": "grounded",
    }
