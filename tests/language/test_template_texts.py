"""Every text of the template engine is sound English, grounded in its trip, and says the wishes."""

import itertools
import re

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.engines.template import BANKS, realiser
from pipeline.language.engines.template.instructions import opener
from pipeline.language.engines.template.wording import sayable
from pipeline.language.vocabulary import VOCABULARY_FILE
from pipeline.records import PlannedTrip, StylePlan
from pipeline.schemas import fault_against
from tests.language.template_trips import WORDS, district, road, spot, trip_number
from tests.language.trips import phased_trip, place, planned_trip, step, target

TRIPS = 2500
SCHEMA = msgspec.json.decode((BANKS.parent / "annotate" / "answer.schema.json").read_bytes())
TEXTS = tuple(SCHEMA["properties"])[2:]
INSTRUCTIONS, QUERIES, CAPTION = TEXTS[:3], TEXTS[3:6], TEXTS[6]
NAME = re.compile(r"(?:Gata [A-Z]|Bistrot Q|Kvarter K)\d+[xyz]")
MASK = "Xaxa"
LABELS = re.compile(
    r"\b(waterfront|coastal|inland|urban|commercial|facilit\w*|gnn|h3|poi|cells?|phases?|segments?"
    r"|trajector\w*)\b",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"\ba [aeiou]|\ban [^aeiou]", re.IGNORECASE)
ENDS = (".", "!", "?")


# Stems of which a text holds one where it says such a wish.
STEMS = {
    "turns": "turn straight simpl zigzag wind weav twisty left complicated",
    "pace": "pace slow quick steady steadi even hurry dawdl fast speed mov minute second hour gent"
    " easy brisk clip waste time rush race wheels nice step",
    "clock": "morning midday middle afternoon evening night early hours am pm",
}


def texts_of(trip: PlannedTrip) -> dict[str, str]:
    return msgspec.to_builtins(realiser().annotate(trip))


@pytest.fixture(scope="module")
def written() -> list[tuple[PlannedTrip, dict[str, str]]]:
    trips = [trip_number(number) for number in range(TRIPS)]
    return [(trip, texts_of(trip)) for trip in trips]


def faults_of(text: str) -> list[str]:
    """Return what is wrong with the form of a text; its names are masked."""
    masked = NAME.sub(MASK, text)
    checks = {
        "forbidden mark": any(mark in text for mark in ("\N{EM DASH}", ";", "  ", "\n")),
        "blank at an end": text != text.strip(),
        "no mark at the end": not text.endswith(ENDS),
        "two marks": re.search(r"[.,!?][,!?]|[^.]\.\.(?!\.)|[,!?]\.", masked),
        "blank before a mark": re.search(r" [.,!?]", masked),
        "an open slot": re.search(r"[{}%]", masked),
        "no capital": not masked[0].isupper(),
        "a sentence without a capital": re.search(r"[a-z][.!?] [a-z]", masked),
        "label": LABELS.search(masked),
        "article": ARTICLE.search(
            re.sub("a university", "", masked, flags=re.IGNORECASE).replace("Point A is", "")
        ),
        "word twice": re.search(r"\b(\w+) \1\b", masked, re.IGNORECASE),
    }
    return [fault for fault, found in checks.items() if found]


def test_no_text_of_thousands_has_a_fault_of_form(written):
    found = [
        (fault, text[field])
        for _, text in written
        for field in TEXTS
        for fault in faults_of(text[field])
    ]
    assert found[:5] == []


def test_every_answer_fits_the_schema_of_the_task(written):
    assert [fault_against(SCHEMA, text) for _, text in written if fault_against(SCHEMA, text)] == []
    assert list(written[0][1]) == list(SCHEMA["properties"])


def test_the_three_instructions_begin_with_three_words(written):
    for _, text in written:
        assert len({opener(text[field]) for field in INSTRUCTIONS}) == 3


def test_the_three_queries_begin_with_three_words(written):
    for _, text in written:
        assert len({text[field].split()[0] for field in QUERIES}) == 3


def known_words() -> set[str]:
    """Return every word of the banks and the vocabulary, and the few that code adds."""
    said = [yaml.safe_load(file.read_text("utf-8")) for file in BANKS.glob("*.yaml")]
    said.append(yaml.safe_load(VOCABULARY_FILE.read_text("utf-8")))
    words = set()
    while said:
        value = said.pop()
        if isinstance(value, dict):
            said += value.values()
        elif isinstance(value, list):
            said += value
        else:
            words |= set(re.findall(r"[a-z']+", re.sub(r"\{\w+\}", " ", str(value)).lower()))
    compass = {a + b for a in ("north", "south", "") for b in ("east", "west", "")}
    words |= {
        f"{each}{end}" for each in {*compass, "north", "south"} for end in ("", "erly", "bound")
    }
    words |= {
        *["and", "then", "that", "from", "about", "a", "an", "it"],
        *["n", "s", "e", "w", "ne", "nw", "se", "sw"],
    }
    words |= {
        *["minutes", "minute", "seconds", "hour", "hours", "metres", "kilometre", "kilometres"]
    }
    words |= {"am", "pm", "jan", "jun", "tuesday", "saturday", "friday", "weekday", "weekend"}
    return words


def test_no_text_holds_a_word_that_is_neither_in_the_banks_nor_a_name_of_the_trip(written):
    known = known_words()
    said = {
        word
        for _, text in written
        for field in TEXTS
        for word in re.findall(r"[a-z']+", NAME.sub(" ", text[field]).lower())
    }
    assert said - known == set()


def names_in(text: str) -> set[str]:
    return set(NAME.findall(text))


def test_an_instruction_names_only_targets_street_start_and_end(written):
    for trip, text in written:
        last = trip.phases[-1].p
        allowed = {name for each in trip.intents.targets for name in each.names}
        allowed |= {road(0), spot(0), district(0), trip.intents.street or ""}
        if trip.intents.targets[0].scenario == "1.1":
            allowed |= {road(last), district(last)}
        for field in INSTRUCTIONS:
            assert names_in(text[field]) <= allowed, text[field]


def test_an_unnamed_destination_stays_unnamed_in_the_instructions(written):
    for trip, text in written:
        last = trip.phases[-1].p
        if trip.intents.targets[0].scenario == "1.2" and last > 3:
            for field in INSTRUCTIONS:
                assert not names_in(text[field]) & {road(last), spot(last)}


def test_a_query_names_only_its_own_targets_start_and_end(written):
    for trip, text in written:
        last = trip.phases[-1].p
        for field, query in zip(QUERIES, trip.intents.queries, strict=True):
            allowed = {name for each in query.targets for name in each.names}
            allowed |= {road(0), spot(0), district(0), road(last), district(last)}
            allowed |= set(trip.intents.targets[0].names)
            assert names_in(text[field]) <= allowed, text[field]


def test_a_query_says_the_evidence_of_each_of_its_dimensions(written):
    for trip, text in written:
        for field, query in zip(QUERIES, trip.intents.queries, strict=True):
            ends = [each for each in query.targets if each.scenario[0] == "1"]
            for each in [each for each in query.targets if each not in ends[1:]]:
                said = text[field].casefold()
                stems = (
                    [each.feature] if each.kind == "heading" else STEMS.get(each.kind, "").split()
                )
                assert set(each.names) <= names_in(text[field]), text[field]
                assert not stems or any(stem in said for stem in stems), (each, said)


def test_a_caption_names_the_start_first_the_end_last_and_the_way_in_the_order_driven(written):
    for trip, text in written:
        last = trip.phases[-1].p
        order = [road(0), *(n for p in trip.phases[1:-1] for n in p.road_names), road(last)]
        said = [name for name in NAME.findall(text[CAPTION]) if name.startswith("Gata")]
        assert said == [name for name in order if name in said]
        assert said[-1] == road(last)


def test_literal_and_chatty_name_every_name_of_every_target(written):
    for trip, text in written:
        wanted = {name for each in trip.intents.targets for name in each.names}
        assert wanted <= names_in(text["instruction_literal"])
        assert wanted <= names_in(text["instruction_chatty"])


def test_literal_and_chatty_say_every_wish_without_a_name(written):
    for trip, text in written:
        for each in trip.intents.targets:
            stems = [each.feature] if each.kind == "heading" else STEMS.get(each.kind, "").split()
            for field in ("instruction_literal", "instruction_chatty"):
                said = text[field].casefold()
                assert not stems or any(stem in said for stem in stems), (each, said)


def test_a_single_intent_tells_the_destination_and_no_other_name_of_the_way(written):
    singles = [(trip, text) for trip, text in written if len(trip.intents.targets) == 1]
    assert len(singles) > 100
    for trip, text in singles:
        middle = {name for phase in trip.phases[1:-1] for name in phase.road_names}
        for field in INSTRUCTIONS:
            assert not names_in(text[field]) & middle


def test_the_form_destination_only_tells_the_destination_and_nothing_else(written):
    seen = 0
    for trip, text in written:
        concise = trip.intents.styles[1]
        if concise.form == "destination_only":
            seen += 1
            said = names_in(text["instruction_concise"])
            assert said == set(trip.intents.targets[0].names)
            assert len(text["instruction_concise"].split()) < 20
    assert seen > 100


def test_literal_and_concise_ask_nothing_and_a_good_quarter_of_the_chatty_do(written):
    share = {
        field: sum("?" in text[field] for _, text in written) / TRIPS for field in INSTRUCTIONS
    }
    assert share["instruction_literal"] == share["instruction_concise"] == 0
    assert 0.2 < share["instruction_chatty"] < 0.35


def test_concise_is_shorter_than_literal_and_chatty_is_longest(written):
    mean = {
        field: sum(len(text[field].split()) for _, text in written) / TRIPS
        for field in INSTRUCTIONS
    }
    literal, concise, chatty = mean.values()
    assert concise < 0.6 * literal
    assert literal < 0.9 * chatty


def test_texts_differ_even_with_their_names_masked(written):
    for field, most in zip(TEXTS, (0.02, 0.2, 0.01, 0.05, 0.05, 0.05, 0.01), strict=True):
        masked = [NAME.sub(MASK, text[field]) for _, text in written]
        assert 1 - len(set(masked)) / TRIPS < most, field


def test_every_persona_form_and_length_has_sound_texts_and_a_voice_of_its_own():
    openings: dict[str, set[str]] = {}
    base = trip_number(3, phases=6)
    for persona, style in itertools.product(WORDS.personas, WORDS.styles):
        for form, length in itertools.product(style.forms, style.lengths):
            plan = StylePlan(style=style.code, form=form.code, length=length.code)
            styles = [plan if each.style == style.code else each for each in base.intents.styles]
            intents = msgspec.structs.replace(base.intents, persona=persona.code, styles=styles)
            text = texts_of(msgspec.structs.replace(base, intents=intents))
            assert all(faults_of(text[field]) == [] for field in INSTRUCTIONS)
            openings.setdefault(persona.code, set()).add(text["instruction_chatty"])
    for one, other in itertools.combinations(openings.values(), 2):
        assert len(one & other) <= 1


def test_a_trip_without_any_name_still_gets_seven_sound_texts():
    for number in range(300):
        trip = trip_number(number)
        nameless = [msgspec.structs.replace(p, road_names=[], desc="") for p in trip.phases]
        end = target("1.2", "facility", phases=[len(nameless) - 1], feature="pharmacy")
        wishes = [each for each in trip.intents.targets[1:] if not each.names]
        intents = msgspec.structs.replace(
            trip.intents,
            targets=[end, *wishes],
            queries=[msgspec.structs.replace(q, targets=[end]) for q in trip.intents.queries],
            street=None,
        )
        meta = msgspec.structs.replace(trip.meta, start_road=None, end_road=None)
        text = texts_of(
            msgspec.structs.replace(trip, meta=meta, phases=nameless, places=[], intents=intents)
        )
        for field in TEXTS:
            assert names_in(text[field]) == set()
            assert faults_of(text[field]) == [], text[field]


def test_a_trip_without_a_clock_speaks_of_no_time():
    trip = trip_number(8)
    meta = msgspec.structs.replace(trip.meta, t_start_s=60.0)
    intents = msgspec.structs.replace(trip.intents, time_context="Tuesday morning")
    text = texts_of(msgspec.structs.replace(trip, meta=meta, intents=intents))
    assert not re.search(r"\b[AP]M\b|Tuesday|2014", " ".join(text.values()))


ODD_NAMES = [
    "O'Hara {name} Bar", '100 % "Pain"', "{dest}", "%s", "北京饭店", "مطعم", "Café 🍰 & Co",
    "iSpot", "Str. Nr. 5.", "Yahoo!", "Wo?", "<b>Bold</b>", "\\n", "a", "Ña",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_name_stands_as_it_is_spelt(name):
    trip = named_trip(name)
    text = texts_of(trip)
    for field in TEXTS[:3]:
        assert name in text[field]
        masked = text[field].replace(name, MASK)
        if not name.endswith(ENDS):
            assert faults_of(masked) == [], text[field]
    assert f"{name}." not in text["instruction_literal"] or not name.endswith(ENDS)


def named_trip(name: str) -> PlannedTrip:
    phased = phased_trip(step([road(0)]), step([road(1)]), step([road(2)]))
    end = target("1.1", "place", phases=[2], names=[name], ids=["id"])
    return planned_trip(phased, places=[place(2, name)], targets=[end])


@pytest.mark.parametrize("name", ["A; B", "A \N{EM DASH} B", "A  B", " Zed", "A\nB", "Long " * 30])
def test_a_name_that_no_text_may_hold_gives_way_to_the_road_of_the_end(name):
    text = texts_of(named_trip(name))
    for field in TEXTS:
        assert name not in text[field]
        assert faults_of(text[field]) == []
        assert road(2) in text[field]


def test_without_any_name_that_can_be_said_the_destination_is_the_end_of_the_trip():
    phased = phased_trip(step(["A; B"]), step(["C; D"]))
    end = target("1.1", "road", phases=[1], names=["C; D"])
    text = texts_of(planned_trip(phased, targets=[end]))
    assert all(faults_of(text[field]) == [] for field in TEXTS)
    assert "end" in text["instruction_literal"]


@given(st.text(max_size=120), st.text(max_size=120), st.text(max_size=120))
def test_any_names_give_an_answer_that_fits_the_schema(first, second, third):
    phased = phased_trip(step([first or "A"]), step([second or "B"]), step([third or "C"]))
    end = target("1.1", "road", phases=[2], names=[third or "C"])
    way = target("2.1", "roads", phases=[1], names=[second or "B"])
    trip = planned_trip(phased, targets=[end, way])
    text = texts_of(trip)
    assert fault_against(SCHEMA, msgspec.json.decode(msgspec.json.encode(text))) is None
    if sayable(third):
        assert third in text["instruction_literal"]
