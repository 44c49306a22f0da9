"""Skeletons of texts, sorted by what they can say, so that no trip gets one that leaves a wish out.

    "{Steps}, then finish {at}{manner}."   says way and course (it needs one of them), pace and time
    table.fitting(WAY | CLOCK, origin=False)  ->  the skeletons that say a way and a time of day

A trip's wishes fall into four groups: its way (streets, stops, areas crossed), its course (what it
keeps to or avoids), its pace, its time. Each slot says some of them, or the skeleton itself none.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from pipeline.errors import ParameterError
from pipeline.language.engines.template.checks import expect_sentences
from pipeline.language.engines.template.kinds import SENTENCE_SLOTS
from pipeline.language.engines.template.phrase import Phrase

WAY, COURSE, PACE, CLOCK = 1, 2, 4, 8
_ROUTE, _MANNER, _ALL = WAY | COURSE, PACE | CLOCK, WAY | COURSE | PACE | CLOCK
_GROUP_WORDS = {WAY: "a way", COURSE: "a course", PACE: "a pace", CLOCK: "a time"}
SITUATIONS = range(_ALL + 1)

# Groups that a slot says; it is empty, or a short form of nothing, where the trip has none of them.
MAY_SAY = {
    "advs": _ROUTE,
    "place_advs": WAY,
    "standing_advs": COURSE,
    "manner": _MANNER,
    "lines": _ALL,
    "spatial_lines": _ROUTE,
    "manner_lines": _MANNER,
    "frags": _ALL,
    "abbr_frags": _ALL,
    "route_note": _ROUTE,
    "time_note": _MANNER,
    "route_tail": _ROUTE,
    "time_tail": _MANNER,
    "remarks": _ALL,
    "spatial_remarks": _ROUTE,
    "that": _ROUTE | PACE,
    "and_preds": _ROUTE | PACE,
    "pace": PACE,
    "when": CLOCK,
    "when_taken": CLOCK,
}
# The same for slots that need at least one of their groups.
MUST_SAY = {
    "steps": _ROUTE,
    "sequence": WAY,
    "standing_steps": COURSE,
    "all_steps": _ALL,
    "front": _MANNER,
    "list": _ALL,
    "frags_first": _ALL,
    "abbr_list": _ALL,
    "preds": _ROUTE | PACE,
    "preds_list": _ROUTE | PACE,
    "when_adj": CLOCK,
}
# Slots that need a named start.
OF_ORIGIN = frozenset({"origin", "origin_on"})


class SlotUse(NamedTuple):
    """A slot as a skeleton writes it: `Steps` is the slot `steps` with a capital."""

    written: str
    slot: str
    capital: bool


class Skeleton(NamedTuple):
    """A skeleton and what it says."""

    phrase: Phrase
    uses: tuple[SlotUse, ...]
    says: int
    needs: tuple[int, ...]
    of_origin: bool

    def fits(self, situation: int, *, origin: bool) -> bool:
        """Tell whether it says all that a trip has to say, and needs nothing it lacks."""
        return (
            situation & ~self.says == 0
            and all(situation & groups for groups in self.needs)
            and (origin or not self.of_origin)
        )


class SkeletonTable:
    """The skeletons of one sentence form and length.

    Attributes:
        destination_only: No skeleton says any wish: the form tells the destination and no more.
    """

    def __init__(self, entries: Sequence[str], *, plain: Collection[str], where: str) -> None:
        """Compile the skeletons and check them.

        Args:
            entries: As the bank holds them.
            plain: Slots allowed beside those of this module: the destination, a voice's words.
            where: File and key, for messages.

        Raises:
            ParameterError: A slot is unknown or wrongly capitalised, something is said twice, or
                there is a kind of trip that no skeleton fits.
        """
        skeletons = [
            _compiled(entry, plain, f"{where}: entry {number}")
            for number, entry in enumerate(entries, 1)
        ]
        self.destination_only = not any(skeleton.says for skeleton in skeletons)
        situations = (0,) if self.destination_only else SITUATIONS
        self._fitting: Mapping[tuple[int, bool], tuple[Skeleton, ...]] = {
            (situation, origin): tuple(s for s in skeletons if s.fits(situation, origin=origin))
            for situation, origin in product(situations, (False, True))
        }
        for (situation, origin), fitting in self._fitting.items():
            if not fitting:
                raise ParameterError(
                    f"{where}: expected an entry for every kind of trip, found none for one with"
                    f" {_words(situation)} and {'a' if origin else 'no'} named start; add one"
                )

    def fitting(self, situation: int, *, origin: bool) -> tuple[Skeleton, ...]:
        """Return the skeletons for a trip; never empty.

        Args:
            situation: The groups of wishes it has, 0 where only its destination is to be told.
            origin: Whether its start has a name.
        """
        return self._fitting[situation, origin]


def _compiled(entry: str, plain: Collection[str], where: str) -> Skeleton:
    phrase = Phrase(entry)
    uses = tuple(SlotUse(s, s[0].lower() + s[1:], s[0].isupper()) for s in phrase.slots)
    known = {*MAY_SAY, *MUST_SAY, *OF_ORIGIN, *plain}
    says = 0
    for use in uses:
        if use.slot not in known:
            raise ParameterError(
                f"{where}: expected slots out of {', '.join(sorted(known))}, found"
                f" {{{use.written}}}; mend the entry"
            )
        groups = MAY_SAY.get(use.slot, 0) | MUST_SAY.get(use.slot, 0)
        if says & groups:
            raise ParameterError(
                f"{where}: expected each wish to be said once, found {_words(says & groups)} again"
                f" in {{{use.written}}}; mend the entry"
            )
        says |= groups
    expect_sentences([entry], where)
    misplaced = phrase.misplaced_capital(SENTENCE_SLOTS)
    if misplaced:
        raise ParameterError(
            f"{where}: expected a capital in slots that begin a sentence and in no others, found"
            f" {{{misplaced}}}; mend the entry"
        )
    needs = tuple(MUST_SAY[use.slot] for use in uses if use.slot in MUST_SAY)
    return Skeleton(phrase, uses, says, needs, any(use.slot in OF_ORIGIN for use in uses))


def _words(groups: int) -> str:
    return ", ".join(word for bit, word in _GROUP_WORDS.items() if groups & bit) or "no wish"
