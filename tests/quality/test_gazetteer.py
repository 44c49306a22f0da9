"""Names that only the list of all names holds: known in full, never in the way of a trip's own."""

import pytest

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
