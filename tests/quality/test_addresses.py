"""House numbers stay open: no record has them. Times, counts and lengths are none."""

import pytest

from tests.quality.small_town import SmallTown, porto

PORTO: SmallTown = porto()


def numbers(text: str) -> list[str]:
    """Return the words of a text that stay open as names."""
    return [one.text for one in PORTO.inspect(text).claims if one.kind == "name"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Rua Direita 8.", "8"),
        ("Rua Direita 8 B, please.", "8 B"),
        ("Rua Direita 27b, round the back.", "27b"),
        ("Rua Direita, number 27, third floor.", "27"),
        ("Rua Direita no. 12 please", "12"),
        ("12 Rua Direita, please.", "12"),
        ("Bring me to 12 Rua Direita.", "12"),
        ("Number 5 on Rua Direita.", "5"),
        ("Rua Direita 8 in Foz.", "8"),
    ],
)
def test_a_house_number_beside_a_road_stays_open(text, number):
    found = PORTO.inspect(text)
    assert numbers(text) == [number]
    assert [one.method for one in found.claims if one.kind == "name"] == ["number"]
    assert "Rua Direita" in [one.text for one in found.mentions]


@pytest.mark.parametrize(
    "text",
    [
        "Rua Direita.",
        "Rua Direita 4 AM.",
        "Rua Direita 4:11 AM.",
        "Rua Direita 10 minutes later.",
        "Rua Direita at 4.",
        "Around 4 Rua Direita is empty.",
        "Rua Direita 2014 was another place.",
        "Bus number 5 on Rua Direita.",
        "Rua Direita 3 times.",
        "Café Central 8.",
        "After 2 km, Rua Direita.",
    ],
)
def test_another_number_beside_a_road_is_no_house_number(text):
    assert numbers(text) == []
