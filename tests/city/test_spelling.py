"""One street, one spelling; two streets keep theirs, however alike they are written."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.city.spelling import one_spelling, spelling_key, spoken

DEGREE_M = 111_320.0
SCHEMA = {"edge_id": pl.String, "name": pl.String, "length_m": pl.Float64,
          **dict.fromkeys(("u_lon", "u_lat", "v_lon", "v_lat"), pl.Float64)}  # fmt: skip


def street(*parts: tuple[str | None, float], gap_m: float = 0.0) -> pl.DataFrame:
    """Lay segments (name, length in metres) one after another northwards, so far apart."""
    rows, at = [], 0.0
    for number, (name, length_m) in enumerate(parts):
        until = at + length_m
        rows.append((f"{number}", name, length_m, 0.0, at / DEGREE_M, 0.0, until / DEGREE_M))
        at = until + gap_m
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def names(roads: pl.DataFrame) -> list[str | None]:
    return one_spelling(roads).roads["name"].to_list()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rua do Doutor Alfredo Magalhães", "Rua do Doutor Alfredo de Magalhães"),
        ("Boulevard du Ténao", "Boulevard du Tenao"),
        ("Rua de Pedro Hispano", "Rua de Pedro hispano"),
        ("Avenida do Engenheiro Pacheco", "Avenida do Eng. Pacheco"),
        ("Rua Dom António", "Rua D. António"),
        ("Avenue de Saint-Romain", "Avenue Saint Romain"),
    ],
)
def test_case_accents_particles_and_abbreviations_make_no_other_street(one, other):
    assert names(street((one, 200), (other, 100))) == [one, one]
    assert names(street((other, 100), (one, 200), gap_m=250)) == [one, one]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rua da Fábrica", "Rua Fábrica da Lã"),
        ("16th Street", "6th Street"),
        ("Rua do Campo", "Rua do Campo Alegre"),
        ("North Road", "South Road"),
        ("Rua Garcia Orta", "Rua Garcia Horta"),
        ("Rua da Boavista", "Avenida da Boavista"),
    ],
)
def test_other_words_make_another_street(one, other):
    assert names(street((one, 200), (other, 100))) == [one, other]


def test_like_names_far_apart_are_two_streets():
    parts = ("Rua Quintã", 200), ("Rua da Quinta", 100)
    assert names(street(*parts, gap_m=2000)) == ["Rua Quintã", "Rua da Quinta"]


def test_the_spelling_of_most_metres_counts_and_the_first_by_name_of_equal_ones():
    assert names(street(("Rua A", 50), ("Rua de A", 80), ("Rua A", 40))) == ["Rua A"] * 3
    assert names(street(("Rua de A", 50), ("Rua A", 50))) == ["Rua A"] * 2


def test_a_spelling_in_full_goes_before_a_shortened_one():
    assert (
        names(street(("R. de Santo Antão", 500), ("Rua de Santo Antão", 10)))
        == ["Rua de Santo Antão"] * 2
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Avenida de França (temporário)", "Avenida de França"),
        ("Rua  do Sol ", "Rua do Sol"),
        ("Rua A;Rua B", "Rua A"),
        ("A4 acesso a A3 (Sul)", "A4 acesso a A3"),
        ("Avenue [provisional] X", "Avenue X"),
        ("(O Chasco)", "(O Chasco)"),
        ("Cafe\u0301 Street", "Café Street"),
    ],
)
def test_qualifiers_in_brackets_are_not_said(written, said):
    assert spoken(written) == said
    assert names(street((written, 10))) == [said]


def test_what_was_written_otherwise_is_counted():
    found = one_spelling(street(("Rua A", 50), ("Rua de A", 20), ("Rua B (velha)", 5), (None, 5)))
    assert found.roads["name"].to_list() == ["Rua A", "Rua A", "Rua B", None]
    assert found.respelled == [
        {"written": "Rua B (velha)", "spelled": "Rua B", "segments": 1},
        {"written": "Rua de A", "spelled": "Rua A", "segments": 1},
    ]


def test_no_roads_have_no_spelling():
    found = one_spelling(street())
    assert found.roads.is_empty()
    assert found.respelled == []


words = st.sampled_from(["Rua", "R.", "da", "de", "Lã", "la", "São", "Sao", "Sol", "sol", "(x)"])
written = st.lists(words, min_size=1, max_size=4).map(" ".join)


@given(st.lists(st.tuples(written, st.floats(1, 400)), max_size=8), st.randoms())
def test_the_order_of_segments_does_not_matter_and_doing_it_again_changes_nothing(parts, random):
    roads = street(*parts)
    once = one_spelling(roads).roads
    order = list(range(roads.height))
    random.shuffle(order)
    assert one_spelling(roads[order]).roads.sort("edge_id").equals(once.sort("edge_id"))
    again = one_spelling(once)
    assert again.roads.equals(once)
    assert again.respelled == []
    for before, after in zip(roads["name"], once["name"], strict=True):
        assert spelling_key(spoken(before)) == spelling_key(after)
