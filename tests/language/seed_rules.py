"""What a seed example keeps beyond its schema and quality control: `faults(trip, answer)`.

    faults(trip, answer)  ->  [("instruction_concise", "14 words, at most 9 for short_phrase")]

A strong model would keep all of it without being asked; the examples show it to a weaker one.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from pipeline.language.prompts import PROMPTS, json_text, nfc
from pipeline.language.shots import Written
from pipeline.language.shown import shown_trip
from pipeline.records import PlannedTrip, Target

SCHEMA = json.loads((PROMPTS / "annotate/answer.schema.json").read_text("utf-8"))
INSTRUCTIONS = ("instruction_literal", "instruction_concise", "instruction_chatty")
QUERIES = ("retrieval_query_1", "retrieval_query_2", "retrieval_query_3")
CAPTION = "trajectory_caption"
TEXTS = (*INSTRUCTIONS, *QUERIES, CAPTION)
DAYS = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
LABELS = re.compile(
    r"GNN|URBAN/INLAND|WATERFRONT|COASTAL/BEACH|GREEN/PARK|Commercial|Facilities|\bphases?\b|"
    r"\bsegments?\b",
)
# Nobody saw the driver stop, buy or do anything: a recorded trip shows where it went and when.
DONE = re.compile(
    r"\b(stop|stops|stopped|stopping|stopover|paus\w+|errand\w*|pick(s|ed|ing)? up|buy\w*|bought"
    r"|purchas\w+|eats|eating|ate|lunch|drinking|visit\w*|call(s|ed|ing)? (in|at)|pull(s|ed"
    r"|ing)? (in|up|over)|park(s|ed|ing) (at|by|beside|near|outside)|drop(s|ped|ping)? (in|by|off)"
    r"|wait(s|ed|ing)?|collect\w*|fetch\w*|refuel\w*|fill(s|ed|ing)? up|break(s|ing)? (off|the)"
    r"|shopping trips?|browse\w*|grab\w*)\b",
    re.IGNORECASE,
)
TRIPS = re.compile(r"\b(trips?|drives?|routes?|journeys?|rides?|runs?)\b", re.IGNORECASE)
DRIVER = re.compile(r"\b(you|your|please|me|my|I|we|us|our)\b|\btake me\b")
FELT = re.compile(
    r"\b(you|your|I|we|wants?|wish\w*|likes|hop(es|ing)|decid\w+|enjoy\w*|lovely|beautiful|scenic"
    r"|pretty|busy|pleasant|charming|quiet|lively|happily|sadly)\b",
)
END = re.compile(r"[.!?]+(?=\s|$)|\.\.\.|…")


class Lengths(NamedTuple):
    """Least and most words and sentences, names counted as one word."""

    least: int
    most: int
    sentences: tuple[int, int]


LENGTHS = {
    ("literal", "brief"): Lengths(3, 42, (1, 1)),
    ("literal", "moderate"): Lengths(5, 55, (1, 3)),
    ("literal", "detailed"): Lengths(7, 85, (1, 5)),
    ("concise", "ultra_terse"): Lengths(1, 7, (1, 4)),
    ("concise", "short_phrase"): Lengths(1, 10, (1, 3)),
    ("concise", "brief_sentence"): Lengths(1, 16, (1, 1)),
    ("chatty", "one_liner"): Lengths(4, 36, (1, 2)),
    ("chatty", "conversational"): Lengths(8, 62, (2, 5)),
    ("chatty", "rambling"): Lengths(32, 135, (2, 12)),
}
# Forms that are made of fragments, each with its full stop.
FRAGMENTS = {"telegraphic", "coordinate"}


def names_in(trip: PlannedTrip) -> list[str]:
    """Return the names of a trip, long ones first."""
    names = {name for phase in trip.phases for name in phase.road_names}
    names |= {place.name for place in trip.places}
    return sorted(names, key=lambda name: (-len(name), name))


def masked(text: str, trip: PlannedTrip) -> str:
    """Return a text with each name as one word, so that its marks end no sentence."""
    for name in names_in(trip):
        text = text.replace(name, "Name")
    return re.sub(r"\b(\d+):(\d+)\b", r"\1", text)


def faults(trip: PlannedTrip, answer: Written) -> Iterator[tuple[str, str]]:
    """Yield each fault of an answer: the field, and what is wrong with it."""
    texts = {field: getattr(answer, field) for field in TEXTS}
    for field in Written.__struct_fields__:
        text = getattr(answer, field)
        if not 1 <= len(text) <= SCHEMA["properties"][field]["maxLength"]:
            yield field, f"{len(text)} characters, the answer schema allows fewer"
    for field, text in texts.items():
        yield from ((field, fault) for fault in _plain(field, text))
        yield from ((field, fault) for fault in _names(text, trip))
    yield from _beginnings(texts)
    yield from _lengths(texts, trip)
    yield from _asked(texts, trip)
    for field in QUERIES:
        if not TRIPS.search(texts[field]):
            yield field, "speaks of no trip, drive, route, journey, ride or run"
        if found := DRIVER.search(texts[field]):
            yield field, f"speaks to somebody: {found[0]!r}"
    for field in (*QUERIES, CAPTION):
        if found := DONE.search(masked(texts[field], trip)):
            yield field, f"claims a stop or a deed: {found[0]!r}"
    yield from ((CAPTION, fault) for fault in _caption(texts[CAPTION], trip))


def _plain(field: str, text: str) -> Iterator[str]:
    if text != nfc(text):
        yield "letters and accents are not composed (NFC)"
    if bad := set('–—;"“”«»*_#`[]{}<>|\n\t') & set(text):
        yield f"holds {''.join(sorted(bad))!r}"
    if "  " in text or text != text.strip():
        yield "has blanks too many"
    if found := LABELS.search(text):
        yield f"holds the label {found[0]!r}"
    if not (text[0].isupper() or text[0].isdigit()):
        yield "begins with a small letter"
    if field not in QUERIES and text[-1] not in ".!?…":
        yield "ends without a mark"
    if field == "instruction_concise" and "?" in text:
        yield "asks; a concise instruction never does"


def _names(text: str, trip: PlannedTrip) -> Iterator[str]:
    """Every capitalised word that begins no sentence is a name of the trip, a day or a clock's."""
    shown = json_text(shown_trip(trip))
    words = re.sub(r"(?:^|(?<=[.!?…] ))\S+", "", text)
    for word in re.findall(r"\b[A-ZÀ-Ž][\w.'’-]*", words):
        bare = re.split(r"['’]s?$", word.rstrip("."))[0]
        pronoun = re.split("['’]", bare)[0] == "I"
        if bare not in shown and bare not in DAYS | {"AM", "PM"} and not pronoun:
            yield f"{bare!r} is nowhere in the record"


def _beginnings(texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    for fields in (INSTRUCTIONS, QUERIES):
        first = [re.sub(r"\W+$", "", texts[field].split()[0]).lower() for field in fields]
        if len(set(first)) < len(fields):
            yield fields[0], f"{len(fields)} different first words wanted, found {', '.join(first)}"


def _lengths(texts: dict[str, str], trip: PlannedTrip) -> Iterator[tuple[str, str]]:
    for plan in trip.intents.styles:
        field, wanted = f"instruction_{plan.style}", LENGTHS[plan.style, plan.length]
        text = masked(texts[field], trip)
        words, sentences = len(text.split()), len(END.findall(text))
        if not wanted.least <= words <= wanted.most:
            yield (
                field,
                (
                    f"{words} words (a name is one), expected {wanted.least} to {wanted.most} for"
                    f" {plan.length}"
                ),
            )
        low, high = wanted.sentences
        if not low <= sentences <= (high + 4 if plan.form in FRAGMENTS else high):
            yield field, f"{sentences} sentences, expected {low} to {high} for {plan.length}"
        if plan.form == "question" and "?" not in texts[field]:
            yield field, "asks nothing; its form is a question"


def _asked(texts: dict[str, str], trip: PlannedTrip) -> Iterator[tuple[str, str]]:
    """What the plan names is said, in the order driven where the order counts."""
    intents = trip.intents
    for wanted in intents.targets:
        yield from _target(wanted, texts)
    spoken = " ".join(texts[field] for field in INSTRUCTIONS)
    if intents.street and intents.street not in spoken:
        yield "instruction_literal", f"no instruction names the street {intents.street}"
    if intents.time_context and intents.time_context.split()[0] not in spoken:
        yield "instruction_literal", f"no instruction says when it is: {intents.time_context}"
    for query, field in zip(intents.queries, QUERIES, strict=True):
        names = [(one.scenario, name) for one in query.targets for name in one.names]
        for scenario, name in names:
            if name not in texts[field]:
                yield field, f"{scenario}: expected {name}"


def _target(wanted: Target, texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    places = [texts["instruction_literal"].find(name) for name in wanted.names]
    if -1 in places:
        yield "instruction_literal", f"{wanted.scenario}: expected {', '.join(wanted.names)}"
    elif places != sorted(places):
        yield "instruction_literal", f"{wanted.scenario}: names are not in the order driven"
    if wanted.scenario == "1.1":
        for field in ("instruction_concise", "instruction_chatty"):
            if wanted.names[0] not in texts[field]:
                yield field, f"1.1: expected {wanted.names[0]}"


def _caption(text: str, trip: PlannedTrip) -> Iterator[str]:
    if found := FELT.search(masked(text, trip)):
        yield f"tells a feeling or a judgement: {found[0]!r}"
    day, _, clock = trip.meta.start_time.partition(",")
    if clock.split(" at ")[1] not in text or day not in text:
        yield f"expected the start, {day} and {clock.split(' at ')[1]}"
    sentences = len(END.findall(masked(text, trip)))
    if not 2 <= sentences <= 4:
        yield f"{sentences} sentences, expected 2 to 4"
