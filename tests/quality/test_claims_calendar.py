"""Seasons and named days are held against the date, by the hemisphere the trip is in."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import LITERAL, QUERY, SmallTown, town_of

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def town_on(day: date, *, at: str = "7:46 PM", lat: float | None = 60.2) -> SmallTown:
    """Return a town whose trip starts on a day, at a latitude if anything shows one."""
    words = f"{WEEKDAYS[day.weekday()]}, {day:%b} {day.day}, {day.year} at {at}"
    trip = phased_trip(step(["Rua A"]), step(["Rua B"]), start_time=words)
    places = [] if lat is None else [replace(place(0, "Café Rio"), lat=lat)]
    return town_of(planned_trip(trip, places=places))


def verdict(town: SmallTown, text: str, field: str = QUERY) -> list[str]:
    """Return the verdicts on the dates of a text."""
    return [one.verdict for one in town.inspect(text, field).claims if one.kind == "date"]


SEASONS = [("winter", 1), ("spring", 4), ("summer", 7), ("autumn", 10), ("fall", 10)]


@pytest.mark.parametrize(("season", "month"), SEASONS)
@pytest.mark.parametrize("words", ["{} evening trips", "a {}'s evening", "a fine {} weekday"])
def test_a_season_is_right_in_its_months_and_wrong_half_a_year_later(season, month, words):
    text = words.format(season)
    now, later = date(2024, month, 15), date(2024, (month + 5) % 12 + 1, 15)
    for there, here, other in ((60.2, now, later), (-33.9, later, now)):
        assert verdict(town_on(here, lat=there), text) == ["supported"]
        assert town_on(other, lat=there).rules(text, QUERY) == ["wrong_time"]


@pytest.mark.parametrize(("season", "month"), SEASONS)
def test_near_the_equator_and_where_no_place_lies_no_season_is_wrong(season, month):
    for lat in (1.3, None):
        assert verdict(town_on(date(2024, month, 15), lat=lat), f"{season} trips") == ["supported"]
        other = town_on(date(2024, (month + 5) % 12 + 1, 15), lat=lat)
        assert verdict(other, f"{season} trips") == ["unverified"]
        assert other.rules(f"{season} trips", QUERY) == []


@settings(deadline=None, max_examples=60)
@given(st.dates(date(2024, 1, 1), date(2024, 12, 31)))
def test_on_every_day_some_season_fits_and_some_other_does_not(day):
    town = town_on(day)
    found = [verdict(town, f"{season} trips")[0] for season in ("spring", "summer", "autumn",
                                                                "winter")]  # fmt: skip
    assert found.count("supported") == 1
    assert found.count("contradicted") >= 2


def test_around_its_beginning_a_season_stays_open():
    assert verdict(town_on(date(2024, 9, 10)), "summer trips") == ["unverified"]
    assert verdict(town_on(date(2024, 12, 10)), "autumn trips") == ["unverified"]


@pytest.mark.parametrize(
    "text",
    ["Next summer we move.", "Every winter we come.", "Summer tyres on.", "I fall asleep.",
     "Spring for it.", "May I go?", "Home for Christmas.", "Happy New Year, go."],
)  # fmt: skip
def test_other_seasons_and_words_of_the_kind_state_nothing(text):
    for month in (1, 7):
        assert verdict(town_on(date(2024, month, 15)), text, LITERAL) == []


def test_what_is_nice_in_summer_says_nothing_of_today_in_an_instruction():
    january = town_on(date(2024, 1, 15))
    assert verdict(january, "It is nice in summer.", LITERAL) == ["unverified"]
    assert verdict(january, "Trips in summer", QUERY) == ["contradicted"]
    assert verdict(january, "In winter, please.", LITERAL) == ["supported"]


NAMED = [
    ("New Year's Eve", date(2024, 12, 31)),
    ("New Year's Day", date(2024, 1, 1)),
    ("Christmas Eve", date(2024, 12, 24)),
    ("Christmas Day", date(2024, 12, 25)),
    ("boxing day", date(2024, 12, 26)),
    ("may day", date(2024, 5, 1)),
    ("valentine's day", date(2024, 2, 14)),
    ("Halloween", date(2024, 10, 31)),
    ("midsummer night", date(2024, 6, 21)),
]


@pytest.mark.parametrize(("name", "day"), NAMED)
def test_a_named_day_is_right_on_it_and_wrong_a_month_later(name, day):
    later = date(day.year, day.month % 12 + 1, min(day.day, 28))
    assert verdict(town_on(day), f"{name} trips") == ["supported"]
    assert verdict(town_on(later), f"{name} trips") == ["contradicted"]
    assert "wrong_time" in town_on(later).rules(f"{name} trips", QUERY)


def test_the_small_hours_are_still_the_night_before():
    assert verdict(town_on(date(2025, 1, 1), at="12:40 AM"), "New Year's Eve trips") == [
        "supported"
    ]
    assert verdict(town_on(date(2025, 1, 2)), "New Year's Eve trips") == ["contradicted"]


def test_of_a_feast_that_moves_only_the_window_is_known():
    assert verdict(town_on(date(2024, 4, 1)), "Easter trips") == ["unverified"]
    assert verdict(town_on(date(2024, 8, 1)), "Easter trips") == ["contradicted"]
    assert verdict(town_on(date(2024, 12, 20)), "Christmas trips") == ["unverified"]


def test_a_trip_without_a_clock_leaves_the_year_open():
    trip = phased_trip(step(["Rua A"]), step(["Rua B"]), t_start_s=60.0,
                       start_time="Thursday, Jan 1, 1970 at 1:01 AM")  # fmt: skip
    assert verdict(town_of(planned_trip(trip)), "Summer trips. New Year's Day.") == [
        "unverified",
        "unverified",
    ]


MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from(["{} trips", "An evening in {}",
                                                                "One late {} night"]))  # fmt: skip
def test_a_month_alone_is_right_in_it_and_wrong_in_all_others(now, said, words):
    town = town_on(date(2024, now, 15))
    fits = "supported" if now == said else "contradicted"
    for name in (MONTHS[said - 1], MONTHS[said - 1][:3]):
        assert verdict(town, words.format(name)) == [fits]


def test_in_the_small_hours_of_the_first_it_is_still_the_month_before():
    town = town_on(date(2024, 8, 1), at="12:30 AM")
    assert verdict(town, "July night trips") == ["supported"]
    assert verdict(town, "June night trips") == ["contradicted"]


@pytest.mark.parametrize(
    "text",
    ["May I go?", "We march on.", "Last July we met.", "Every May it floods.", "With April.",
     "Since June.", "Until August.", "To June Street.", "In may ways."],
)  # fmt: skip
def test_words_like_months_and_other_years_state_nothing(text):
    assert verdict(town_on(date(2024, 1, 15)), text, LITERAL) == []


YEARS = ["Recorded in {}", "A trip of the year {}", "From the summer of {}", "In July of {}",
         "During {}"]  # fmt: skip


@pytest.mark.parametrize("words", YEARS)
def test_a_year_alone_is_held_against_the_start(words):
    town = town_on(date(2024, 7, 15))
    assert set(verdict(town, words.format(2024))) == {"supported"}
    assert "contradicted" in verdict(town, words.format(2019))
    assert "contradicted" not in verdict(town, words.format(2019), LITERAL)


@pytest.mark.parametrize(
    "text", ["In 2019 metres.", "Since 2019.", "Room 2019.", "In 20 19.", "2019 trips", "Of 1999."]
)
def test_other_figures_are_no_year(text):
    assert verdict(town_on(date(2024, 7, 15)), text) == []
