"""Fills the slots of one text's skeleton from the wishes of its trip.

    composer.compose(banks.literal.forms["imperative"]["brief"])
    ->  "Follow Rua A and then Rua B, then finish at Central at a steady pace."

Wishes are said in the order way, course, pace, time. Slots that may be empty bring their own
leading space, so that no text ever holds two in a row.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.evidence import Start, Told
from pipeline.language.engines.template.mentions import Mention
from pipeline.language.engines.template.phrase import Phrase
from pipeline.language.engines.template.skeletons import (
    CLOCK,
    COURSE,
    PACE,
    WAY,
    Skeleton,
    SkeletonTable,
)
from pipeline.language.engines.template.wording import capital, in_a_row

_ROUTE, _MANNER, _ALL = WAY | COURSE, PACE | CLOCK, WAY | COURSE | PACE | CLOCK
# After these adverbials a pace follows without a comma: "via Rua A at a steady pace".
_RUNS_ON = frozenset({"", "roads", "district", "slow", "steady", "brisk"})

Makers = Mapping[str, Callable[[], str]]


class Manner(NamedTuple):
    """A manner of speaking: roles of targets.yaml for verb phrases and adverbials.

    Attributes:
        do: Role of verb phrases.
        adverb: Role of adverbials.
        bare: Whether the destination is told without anything for orientation.
    """

    do: str
    adverb: str
    bare: bool = False


PLAIN = Manner("do", "with")
TERSE = Manner("do", "with", bare=True)
CHATTY = Manner("do_chatty", "with_chatty")
ON_RECORD = Manner("do", "passing")


class Composer:
    """One text: its wishes, its choices, its manner of speaking.

    Attributes:
        destination: Where the trip goes.
        wishes: What else it has to say.
        choices: What decides between phrases.
        start: The name it has for the start, if it has one.
    """

    def __init__(
        self,
        told: Told,
        choices: Choices,
        *,
        manner: Manner,
        makers: Makers,
    ) -> None:
        """Begin a text.

        Args:
            told: What it has to say.
            choices: What decides between phrases.
            manner: How it is said.
            makers: Slots of its style beyond those of every style.
        """
        self.destination, self.wishes, self.choices = told.destination, told.wishes, choices
        self._manner, self._makers = manner, makers
        self.start = self._chosen_start(told.starts)
        self._before = ""

    def _chosen_start(self, named: Sequence[Start]) -> Start | None:
        said = {name for each in (self.destination, *self.wishes) for name in each.names}
        starts = [start for start in named if start.name not in said]
        if not starts:
            return None
        return starts[0] if self.choices.chance(75) else self.choices.pick(starts)

    def compose(self, table: SkeletonTable) -> str:
        """Return a text after one of the skeletons that fit."""
        situation = 0
        if not table.destination_only:
            for wish in self.wishes:
                situation |= wish.group
        return self.fill(self.choices.pick(table.fitting(situation, origin=self.start is not None)))

    def fill(self, skeleton: Skeleton) -> str:
        """Return a skeleton with its slots filled."""
        values = {}
        self._before = ""
        for use in skeleton.uses:
            own = self._makers.get(use.slot)
            if own is None:
                values[use.written] = _SLOTS[use.slot](self, use.capital)
            else:
                values[use.written] = capital(own()) if use.capital else own()
        return skeleton.phrase.fill(values)

    def of(self, groups: int) -> list[Mention]:
        """Return the wishes of some groups."""
        return [wish for wish in self.wishes if wish.group & groups]

    # ---- the destination and the start ----------------------------------------------------------

    def end(self, role: str, *, first: bool) -> str:
        """Return the destination in one of its roles."""
        return self.destination.word(role, self.choices, capital=first, bare=self._manner.bare)

    def origin(self, *, on: bool) -> str:
        """Return the start, `on` with its preposition."""
        start = self.start
        if start is None:
            raise LookupError("a skeleton names the start of a trip whose start has no name")
        return f"{start.preposition} {start.name}" if on else start.name

    # ---- wishes ---------------------------------------------------------------------------------

    def adverbs(self, groups: int) -> str:
        """Return " via Rua A, heading north": adverbials with a space before; may be empty."""
        said = ""
        for wish in self.of(groups):
            words = wish.word(self._manner.adverb, self.choices)
            runs_on = not self._before or (wish.group & _MANNER and self._before in _RUNS_ON)
            participle = words.partition(" ")[0].endswith("ing")
            if words[0] == ",":
                said += words
            else:
                said += f" {words}" if runs_on and not participle else f", {words}"
            self._before = wish.kind
        return said

    def front(self, *, first: bool) -> str:
        """Return pace and time as an opening: "On a weekday morning"."""
        adverb = self._manner.adverb
        said = [wish.word(adverb, self.choices).lstrip(", ") for wish in self.of(_MANNER)]
        return capital(" ".join(said)) if first else " ".join(said)

    def verbs(self, groups: int, *, first: bool) -> str:
        """Return "take Rua A, head north and keep a steady pace"."""
        wishes = self.of(groups)
        return in_a_row(
            [
                wish.word(self._manner.do, self.choices, capital=first and number == 0)
                for number, wish in enumerate(wishes)
            ]
        )

    def sequence(self, *, first: bool) -> str:
        """Return "take Rua A, then stop at a bakery"."""
        return ", then ".join(
            wish.word(self._manner.do, self.choices, capital=first and number == 0)
            for number, wish in enumerate(self.of(WAY))
        )

    def sentences(self, groups: int) -> str:
        """Return plain sentences, each with a space before; may be empty."""
        return "".join(f" {wish.word('line', self.choices)}" for wish in self.of(groups))

    def fragments(self, role: str, *, lead: str) -> str:
        """Return " Via Rua A. Weekday morning.", with `lead` before the first; may be empty."""
        bits = [f"{wish.word(role, self.choices, capital=True)}." for wish in self.wishes]
        return lead + " ".join(bits) if bits else ""

    def enumeration(self, groups: int, role: str, *, first: bool) -> str:
        """Return "via Rua A, heading north, weekday morning"; may be empty."""
        return ", ".join(
            wish.word(role, self.choices, capital=first and number == 0)
            for number, wish in enumerate(self.of(groups))
        )

    def note(self, groups: int, phrases: Sequence[Phrase]) -> str:
        """Return " Route: via Rua A, heading north."; may be empty."""
        if not self.of(groups):
            return ""
        phrase = self.choices.pick(phrases)
        listed = self.enumeration(groups, "bit", first="List" in phrase.slots)
        return phrase.fill({"list": listed, "List": listed})

    def tail(self, groups: int) -> str:
        """Return ", via Rua A, heading north"; may be empty."""
        listed = self.enumeration(groups, "bit", first=False)
        return f", {listed}" if listed else ""


_Slot = Callable[[Composer, bool], str]
_SLOTS: Mapping[str, _Slot] = {
    "to": lambda c, first: c.end("to", first=first),
    "toward": lambda c, first: c.end("toward", first=first),
    "at": lambda c, first: c.end("at", first=first),
    "dest": lambda c, first: c.end("dest", first=first),
    "short": lambda c, first: c.end("short", first=first),
    "origin": lambda c, _: c.origin(on=False),
    "origin_on": lambda c, _: c.origin(on=True),
    "advs": lambda c, _: c.adverbs(_ROUTE),
    "place_advs": lambda c, _: c.adverbs(WAY),
    "standing_advs": lambda c, _: c.adverbs(COURSE),
    "manner": lambda c, _: c.adverbs(_MANNER),
    "pace": lambda c, _: c.adverbs(PACE),
    "when": lambda c, _: c.adverbs(CLOCK),
    "front": lambda c, first: c.front(first=first),
    "steps": lambda c, first: c.verbs(_ROUTE, first=first),
    "standing_steps": lambda c, first: c.verbs(COURSE, first=first),
    "all_steps": lambda c, first: c.verbs(_ALL, first=first),
    "sequence": lambda c, first: c.sequence(first=first),
    "lines": lambda c, _: c.sentences(_ALL),
    "spatial_lines": lambda c, _: c.sentences(_ROUTE),
    "manner_lines": lambda c, _: c.sentences(_MANNER),
    "frags": lambda c, _: c.fragments("order", lead=" "),
    "frags_first": lambda c, _: c.fragments("order", lead=""),
    "abbr_frags": lambda c, _: c.fragments("abbr", lead=" "),
    "list": lambda c, first: c.enumeration(_ALL, "bit", first=first),
    "abbr_list": lambda c, first: c.enumeration(_ALL, "abbr", first=first),
    "route_tail": lambda c, _: c.tail(_ROUTE),
    "time_tail": lambda c, _: c.tail(_MANNER),
}
