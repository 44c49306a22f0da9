"""Two ways to write one name are told from two names exactly; no likeness of letters could.

The pairs: names seen in the paper's own texts and cities, and how like difflib finds them.
"""

import pytest

from pipeline.quality.gazetteer import EXACT, SHORT, written_forms
from pipeline.quality.grounding import likeness
from pipeline.quality.tables import word_tables
from tests.language.trips import phased_trip, planned_trip, step
from tests.quality.small_town import town_of

SAME = [
    ("Rua Professor Vicente José de Carvalho", "Rua Prof. Vicente Jose de Carvalho"),
    ("Terry A. François Boulevard", "Terry A Francois Blvd"),
    ("W Hotels", "W Hotel"),
    ("Rua de Santa Catarina", "Rua Santa Catarina"),
]
DIFFERENT = [
    ("16th Street", "6th Street"),
    ("3rd Street", "23rd Street"),
    ("Kexing Road", "Kexin Road"),
    ("Xisihuan South Road", "Xisihuan North Road"),
    ("Rua do Campo Alegre", "Rua do Campo Pequeno"),
    ("Avenida da Boavista", "Rua da Boavista"),
    ("Ponte Dom Luís I", "Ponte D"),
]


def said_of(name: str, written: str) -> list[str]:
    """Return the verdicts on a text that writes a name its own way, on a trip that has it."""
    trip = planned_trip(phased_trip(step(["Rua A"]), step([name]), step(["Rua C"])))
    return [one.verdict for one in town_of(trip).mentions(f"Drive along {written}.")]


@pytest.mark.parametrize(("name", "written"), SAME)
def test_two_ways_of_writing_a_name_are_one_name(name, written):
    assert said_of(name, written) == ["grounded"]
    assert said_of(written, name) == ["grounded"]


@pytest.mark.parametrize(("name", "written"), DIFFERENT)
def test_two_names_are_two_names_however_alike(name, written):
    assert said_of(name, written) == ["invented"]
    assert said_of(written, name) == ["invented"]


def test_no_threshold_parts_the_two_tables():
    tables = word_tables()
    same = [likeness(one, other, tables) for one, other in SAME]
    different = [likeness(one, other, tables) for one, other in DIFFERENT]
    assert min(same) < max(different)


@pytest.mark.parametrize(
    ("one", "other"),
    [("16th Street", "6th Street"), ("Xisihuan South Road", "Xisihuan North Road"),
     ("Avenida da Boavista", "Rua da Boavista")],
)  # fmt: skip
def test_numbers_directions_and_types_that_differ_are_not_even_alike(one, other):
    assert likeness(one, other, word_tables()) == 0.0


def test_a_misspelt_name_is_alike():
    assert likeness("Kexing Road", "Kexin Road", word_tables()) > 0.9


def test_a_name_may_be_written_without_its_type_but_never_by_a_type_or_a_number_alone():
    forms = dict(written_forms("Avenida da Boavista", word_tables()))
    assert forms["ave", "da", "boavista"] == forms["ave", "boavista"] == EXACT
    assert forms["boavista",] == SHORT
    assert list(written_forms("Rua 25", word_tables())) == [(("r", "25"), EXACT)]
    assert list(written_forms("Hotel Avenida", word_tables())) == [(("hotel", "ave"), EXACT)]


def test_a_direction_is_never_left_out():
    forms = {words for words, _ in written_forms("Xisihuan South Road", word_tables())}
    assert ("xisihuan",) not in forms


def test_a_name_without_letters_has_no_form():
    assert list(written_forms("@!", word_tables())) == []
