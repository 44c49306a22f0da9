"""The three instructions of a trip: literal, concise, chatty, by one speaker.

    literal   "Drive to Central via Rua A and then Rua B, without any hurry."
    concise   "Central. Via Rua A and Rua B. No rush."
    chatty    "Hey there, can you take me to Central? Feel free to take Rua A and Rua B. Cheers."

Form and length come from the plan (Table 11), the voice from the persona (Figure 11). The three
begin with three different words. A text that would be longer than its limit says fewer wishes.
"""

from collections.abc import Callable, Mapping, Sequence

from pipeline.language.engines.template.banks import Banks, Pair
from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.composer import (
    CHATTY,
    PLAIN,
    TERSE,
    Composer,
    Makers,
)
from pipeline.language.engines.template.evidence import Evidence, Told, in_order
from pipeline.language.engines.template.remarks import Remarks
from pipeline.language.engines.template.skeletons import CLOCK, COURSE, PACE, WAY
from pipeline.language.engines.template.wording import ended
from pipeline.records import StylePlan

# Longest texts, characters: those of prompts/annotate/answer.schema.json.
LIMITS = {"literal": 500, "concise": 200, "chatty": 700}
# Most words of a concise one; a long name counts as many.
MOST_WORDS = {"concise": 25}
# How often a persona is heard beside what is asked for, per cent.
LITERAL_VOICE, CONCISE_VOICE = 65, 40
# How often street and time are named where no wish does, per cent.
EXTRAS = 70
# Tries to begin unlike the other instructions, before the next best is taken.
_TRIES = 12
_ROUTE, _MANNER = WAY | COURSE, PACE | CLOCK


def instructions(evidence: Evidence, banks: Banks) -> dict[str, str]:
    """Return the instructions by style, in the paper's order."""
    texts: dict[str, str] = {}
    taken: set[str] = set()
    for plan in evidence.trip.intents.styles:
        choices = Choices(evidence.trip.trip_id, plan.style)
        text = _within(evidence, plan, choices, banks)
        for _ in range(_TRIES):
            if opener(text) not in taken:
                break
            text = _within(evidence, plan, choices, banks)
        taken.add(opener(text))
        texts[plan.style] = text
    return texts


def opener(text: str) -> str:
    """Return the first word of a text without its marks, in small letters."""
    return text.split(" ", 1)[0].strip(".,:?!").casefold()


def _within(evidence: Evidence, plan: StylePlan, choices: Choices, banks: Banks) -> str:
    """Return a text within its limit, with as many wishes as fit."""
    told, persona = evidence.told, evidence.trip.intents.persona
    if evidence.extras and _has_room(plan) and choices.chance(EXTRAS):
        told = told._replace(wishes=in_order([*told.wishes, *evidence.extras]))
    while True:
        text = _MAKERS[plan.style](told, plan, persona, choices, banks)
        text = ended(text, evidence.marked)
        fits = len(text) <= LIMITS[plan.style]
        fits = fits and len(text.split()) <= MOST_WORDS.get(plan.style, len(text))
        if fits or not told.wishes:
            return text
        told = told._replace(wishes=told.wishes[:-1])


def _has_room(plan: StylePlan) -> bool:
    return plan.style != "concise" and plan.length not in {"brief", "one_liner"}


def _literal(told: Told, plan: StylePlan, persona: str, choices: Choices, banks: Banks) -> str:
    bank = banks.literal
    composer: Composer
    makers: Makers = {
        "route_note": lambda: composer.note(_ROUTE, bank.route_notes),
        "time_note": lambda: composer.note(_MANNER, bank.time_notes),
    }
    composer = Composer(told, choices, manner=PLAIN, makers=makers)
    text = composer.compose(bank.forms[plan.form][plan.length])
    if not choices.chance(LITERAL_VOICE):
        return text
    voice = bank.voices[persona]
    if plan.length == "brief":
        return f"{text[:-1]}{choices.pick(_options(voice.suffix, told))}."
    return f"{text} {choices.pick(_options(voice.sentence, told))}"


def _concise(told: Told, plan: StylePlan, persona: str, choices: Choices, banks: Banks) -> str:
    composer = Composer(told, choices, manner=TERSE, makers={})
    text = composer.compose(banks.concise.forms[plan.form][plan.length])
    if not choices.chance(CONCISE_VOICE):
        return text
    voice = banks.concise.voices[persona]
    return f"{text} {choices.pick(_options(voice, told))}"


def _chatty(told: Told, plan: StylePlan, persona: str, choices: Choices, banks: Banks) -> str:
    voice = banks.chatty.voices[persona]
    makers = Remarks(voice, told.wishes, choices).makers()
    composer = Composer(told, choices, manner=CHATTY, makers=makers)
    return composer.compose(banks.chatty.forms[plan.form][plan.length])


def _options(pair: Pair, told: Told) -> Sequence[str]:
    """Return what may be added: nothing on haste where the trip has a pace of its own."""
    return pair.paced if any(wish.group == PACE for wish in told.wishes) else pair.unpaced


_Maker = Callable[[Told, StylePlan, str, Choices, Banks], str]
_MAKERS: Mapping[str, _Maker] = {"literal": _literal, "concise": _concise, "chatty": _chatty}
