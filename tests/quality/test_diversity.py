"""Quotas on likeness: what counts as alike, who stays, and that order changes nothing."""

from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from pipeline.quality import diversity
from pipeline.quality.diversity import STYLES, DiversitySettings, Excess, Quota, Shares, Survey
from pipeline.quality.inspection import FIELDS, Inspected
from pipeline.quality.reading import Reading
from tests.quality.checked_project import annotated
from tests.quality.real_towns import settings
from tests.quality.small_town import porto

PORTO = porto()
FIELD = "instruction_literal"
FIRST = ["Take", "Follow", "Use", "Drive", "Choose", "Pick", "Try", "Go"]
WORDS = [
    "amber",
    "brook",
    "cedar",
    "dune",
    "ember",
    "fern",
    "glade",
    "heath",
    "iris",
    "jade",
    "kelp",
    "lark",
    "moss",
    "nook",
]


def shares(share: float) -> Shares:
    return Shares(*(share for _ in STYLES))


NO_LIMIT = Quota(least=1, shares=shares(1.0))


def limits(**quotas: int) -> DiversitySettings:
    """Return settings that set limits for some rules only."""
    rules = dict.fromkeys(("exact_copy", "template", "opener", "near_duplicate"), NO_LIMIT)
    rules |= {rule: Quota(least=most, shares=shares(0.0)) for rule, most in quotas.items()}
    return DiversitySettings(short_words=5, bands=3, rows=6, **rules)


def inspected(trip_id: str, text: str) -> tuple[Inspected, list[Reading]]:
    """Return a trip that says `text`, and its words; its other texts are nobody's concern."""
    said = dict.fromkeys(FIELDS, "Go.") | {FIELD: text}
    return PORTO.inspector.inspect(annotated(trip_id, **said))


def surveyed(rule: str, most: int, texts: list[str]) -> Excess:
    survey = Survey(limits(**{rule: most}), seed=7)
    trips = [inspected(f"t{number}", text) for number, text in enumerate(texts)]
    for trip in trips:
        survey.add(*trip)
    return survey.excess({trip.trip_id for trip, _ in trips})


def trips_of(excess: Excess) -> set[str]:
    """Return the trips whose own text lies beyond a quota."""
    own = FIELDS.index(FIELD)
    return {
        trip_id
        for trip_id, found in excess.by_trip.items()
        if any(field == own for field, *_ in found)
    }


def beyond(rule: str, most: int, texts: list[str]) -> int:
    """Return how many of some texts lie beyond a quota."""
    return len(trips_of(surveyed(rule, most, texts)))


# ---- what is alike -------------------------------------------------------------------------------


def test_short_texts_are_counted_word_for_word():
    assert beyond("exact_copy", 2, ["Hospital. Now."] * 5) == 3
    assert beyond("exact_copy", 2, ["Hospital now!"] * 2 + ["HOSPITAL, now."] * 2) == 2
    assert beyond("exact_copy", 1, ["Hospital now.", "Hospital soon.", "Clinic now."]) == 0


def test_a_longer_text_is_no_exact_copy():
    assert beyond("exact_copy", 1, ["Please drive me to the hospital right now."] * 3) == 0


def test_a_template_hides_behind_no_name_and_no_number():
    roads = ["Avenida da Boavista", "Rua Direita", "Rua de Santa Catarina"]
    texts = [f"Please take {road} for {n} minutes or so." for n, road in enumerate(roads, 5)]
    assert beyond("template", 1, texts) == 2
    assert beyond("template", 1, ["Take Rua Direita first.", "Take Rua Direita last."]) == 0


def test_an_opener_is_two_words():
    texts = [f"Take me {word} please." for word in WORDS[:4]] + ["Take us home please."]
    assert beyond("opener", 1, texts) == 3
    named = [f"{road} then on." for road in ("Rua Direita", "Avenida da Boavista")]
    assert beyond("opener", 1, named) == 1  # names are one thing


def test_near_copies_of_longer_texts_are_found():
    same = " ".join(WORDS * 3)
    assert beyond("near_duplicate", 1, [f"{same} {word}." for word in WORDS[:4]]) == 3
    other = " ".join(reversed(WORDS * 3))
    assert beyond("near_duplicate", 1, [f"{same}.", f"{other}."]) == 0
    assert beyond("near_duplicate", 1, ["Hospital now."] * 3) == 0  # short: likeness means nothing


def test_texts_of_another_style_are_not_alike():
    said = dict.fromkeys(FIELDS, "Hospital now.")
    survey = Survey(limits(exact_copy=1), seed=7)
    survey.add(*PORTO.inspector.inspect(annotated("t1", **said)))
    excess = survey.excess({"t1"})
    (of_trip,) = excess.by_trip.values()
    # Three queries are of one style; the other texts are alone in theirs.
    assert len(of_trip) == 2
    assert {FIELDS[field][:-2] for field, *_ in of_trip} == {"retrieval_query"}


def test_a_text_without_words_is_alike_nothing_but_its_like():
    assert beyond("exact_copy", 1, ["...", "!", "Go on."]) == 1


# ---- quotas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("least", "share", "texts", "quota"),
    [(5, 0.02, 0, 5), (5, 0.02, 250, 5), (5, 0.02, 251, 6), (5, 0.02, 1000, 20), (1, 1.0, 40, 40)],
)
def test_a_quota_is_the_least_or_a_share_if_that_is_more(least, share, texts, quota):
    assert Quota(least=least, shares=shares(share)).of("query", texts) == quota


def test_each_style_has_its_own_share():
    quota = Quota(least=1, shares=Shares(0.1, 0.2, 0.3, 0.4, 0.5))
    assert [quota.of(style, 100) for style in STYLES] == [10, 20, 30, 40, 50]


def test_a_finding_tells_how_many_are_alike_and_follows_the_policy():
    excess = surveyed("exact_copy", 2, ["Hospital. Now."] * 5)
    trip_id = min(trips_of(excess))
    for action in ("flag", "reject"):
        policies = msgspec.structs.replace(settings().rules, exact_copy=action)
        findings = excess.findings(inspected(trip_id, "Hospital. Now.")[0], policies)
        (finding,) = (one for one in findings if one.field == FIELD)
        assert (finding.field, finding.rule, finding.action) == (FIELD, "exact_copy", action)
        assert (finding.stage, finding.start, finding.end) == ("diversity", 0, 14)
        assert finding.detail == "5 texts of its style are alike, at most 2 may be"
    assert excess.findings(inspected("another", "Hospital. Now.")[0], settings().rules) == []


def test_figures_tell_the_most_alike_and_how_many_differ():
    texts = ["Hospital now."] * 4 + ["Clinic now."]
    figures = {one["style"]: one for one in surveyed("exact_copy", 3, texts).figures}
    literal = figures["literal"]
    assert literal["texts"] == 5
    assert literal["exact_copy"] == {"quota": 3, "most_alike": 4, "beyond": 1, "different": 2}
    assert figures["query"]["texts"] == 15


def test_trips_that_are_refused_anyway_are_not_compared():
    survey = Survey(limits(exact_copy=2), seed=7)
    trips = [inspected(f"t{number}", "Hospital. Now.") for number in range(5)]
    for trip in trips:
        survey.add(*trip)
    excess = survey.excess({"t1", "t3", "t4"})
    (beyond,) = trips_of(excess)
    assert beyond in {"t1", "t3", "t4"}
    assert {one["style"]: one for one in excess.figures}["literal"]["texts"] == 3


def test_no_texts_lie_beyond_nothing():
    assert Survey(limits(), seed=7).excess(set()).by_trip == {}


# ---- order --------------------------------------------------------------------------------------


SAID = [" ".join(words) + " please." for words in product(FIRST[:3], WORDS[:3], WORDS[3:6])] * 2
TRIPS = [inspected(f"t{number}", text) for number, text in enumerate(SAID)]


def stays(trips: list[tuple[Inspected, list[Reading]]], seed: int = 7) -> set[str]:
    survey = Survey(limits(exact_copy=1, opener=4), seed=seed)
    for trip in trips:
        survey.add(*trip)
    every = {trip.trip_id for trip, _ in trips}
    return every - trips_of(survey.excess(every))


@examples(max_examples=30, deadline=None)
@given(order=st.permutations(TRIPS))
def test_who_stays_does_not_depend_on_order(order):
    assert stays(order) == stays(TRIPS)


@pytest.mark.parametrize("at_a_time", [7, 21, 70])
def test_how_many_are_brought_to_numbers_at_a_time_changes_nothing(monkeypatch, at_a_time):
    whole = stays(TRIPS)
    monkeypatch.setattr(diversity, "_TEXTS_AT_A_TIME", at_a_time)
    assert stays(TRIPS) == whole


def test_who_stays_depends_on_the_seed():
    assert stays(TRIPS, seed=7) != stays(TRIPS, seed=8)


def test_no_more_than_the_quota_stay():
    kept = stays(TRIPS)
    texts = [text for number, text in enumerate(SAID) if f"t{number}" in kept]
    assert len(set(texts)) == len(texts)
    openers = [" ".join(text.split()[:2]) for text in texts]
    assert max(map(openers.count, openers)) <= 4
