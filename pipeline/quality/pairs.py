"""What a text tells of two names at once, held against their phases.

    "Rua A, then Café Rio on Rua B"  ->  Café Rio lies not before Rua A, nor phases away from Rua B

A name is held against the one before it: by words of order (`order.py`), as lying on or in it, and,
in a caption, as the next road driven. Paper: A.3.6, "Phase Alignment".
"""

from collections.abc import Sequence

from pipeline.quality.evidence import Evidence, Spot
from pipeline.quality.gazetteer import Found, Name
from pipeline.quality.order import before_then, first_comes_first, told_in_turn
from pipeline.quality.reading import HINT_ORDER, Reading
from pipeline.quality.rules import Hit, Rule

# Words between two names of which one lies on or in the other.
_MOST_BETWEEN = 4
_AT = frozenset({"on", "in"})
_BESIDE = _AT | {"right", "just", "over", "up", "down", "there", "which", "is", "that"}
# Words between two names of a list that may be in order, and how many there may be.
_MOST_LISTED = 2
_LISTING = frozenset({"and", "plus", "along", "on", "the"})


class Pairs:
    """Holds each name of a text against the one before it."""

    def __init__(
        self, reading: Reading, found: Sequence[Found], evidence: Evidence, *, caption: bool
    ) -> None:
        """Begin a text.

        Args:
            reading: The text.
            found: Its names in order.
            evidence: The trip's own record.
            caption: Whether it tells a drive from start to end.
        """
        self._reading, self._found, self._evidence = reading, found, evidence
        self._caption, self._in_order = caption, reading.flags & HINT_ORDER > 0
        self._led_to_then = before_then(reading, found) if self._in_order else frozenset()
        self._before: tuple[Found, Name, int] | None = None
        self._listed = False
        self._names: set[str] = set()

    def forget(self) -> None:
        """Hold the next name against none: the one before it is unknown."""
        self._before = None

    def denied(
        self, number: int, name: Name, spot: Spot | None, span: tuple[int, int]
    ) -> Hit | None:
        """Return a hit where the phases deny what a text tells of a name and the one before it.

        Args:
            number: Which of the names found it is; they come in the order of the text.
            name: What it means.
            spot: Where the trip has it; None where it need not be driven or breaks a rule already.
            span: Where it stands, characters.
        """
        one, before = self._found[number], self._before
        again = name.text in self._names
        self._names.add(name.text)
        self._before = (one, name, spot[0]) if spot else None
        self._listed = self._in_order and before is not None and self._is_listed(before[0], number)
        if spot is None or before is None:
            return None
        at = self._reading.words[one.first - 1].canonical in _AT
        # Without words of order, only "A on B" tells how names lie that are phases apart.
        if self._in_order or (at and not 0 <= spot[0] - before[2] <= 1):
            hit = self._not_as_told(before, one, name, span)
            # Of a name that was told before, words of order may mean what is said of it.
            if hit is not None and not (self._in_order and again):
                return hit
        if self._caption and not again and before[0].is_road() and one.is_road():
            return self._out_of_turn(before, one, name, span)
        return None

    def _is_listed(self, before: Found, number: int) -> bool:
        one = self._found[number]
        return one.first - before.end <= _MOST_LISTED and (
            number in self._led_to_then or _goes_on(self._reading, before, one, listed=self._listed)
        )

    def _not_as_told(
        self,
        before: tuple[Found, Name, int],
        one: Found,
        name: Name,
        span: tuple[int, int],
    ) -> Hit | None:
        """Return a hit for two names, a few words apart, that do not lie as the text tells.

        "A, then B": B may not lie before A. "A on B", "A in B": a phase apart at most.
        """
        reading, evidence = self._reading, self._evidence
        end, start = before[0].end, one.first
        if start < end or (start == end and not self._listed):
            return None
        told = None
        if self._in_order:
            told = first_comes_first(reading, (before[0].first, end), (start, one.end))
            told = True if told is None and self._listed else told
        if told is not None:
            names = (before[1], name) if told else (name, before[1])
            rule = _order_denied(*names, evidence)
            how = "after" if told else "before"
            return None if rule is None else self._hit(rule, before[1], name, how, span)
        if start - end > _MOST_BETWEEN or reading.words[start - 1].canonical not in _AT:
            return None
        if _is_beside(reading, end, start) and _apart(before[1], name, evidence) > 1:
            return self._hit(Rule.WRONG_PHASE, before[1], name, "beside", span)
        return None

    def _out_of_turn(
        self,
        before: tuple[Found, Name, int],
        one: Found,
        name: Name,
        span: tuple[int, int],
    ) -> Hit | None:
        """Return a hit for a road that is driven next by the text, and before by the trip."""
        evidence = self._evidence
        if not told_in_turn(self._reading, before[0], one):
            return None
        if max(evidence.phases_of(name)) >= min(evidence.phases_of(before[1])):
            return None
        return self._hit(Rule.WRONG_PHASE, before[1], name, "after", span)

    def _hit(self, rule: Rule, before: Name, name: Name, how: str, span: tuple[int, int]) -> Hit:
        first, second = self._evidence.phases_of(before), self._evidence.phases_of(name)
        found = f"found in {', '.join(map(str, second))}, the other in {', '.join(map(str, first))}"
        return Hit(rule, *span, f"{name.text}: expected {how} {before.text}, {found}")


def _goes_on(reading: Reading, one: Found, other: Found, *, listed: bool) -> bool:
    """Tell whether two roads are of a list that "then" begins: "..., then along A, B and C".

    Args:
        reading: The text.
        one: The first of them.
        other: The second.
        listed: Whether the first goes on with such a list.
    """
    words = reading.words
    between = [word.canonical for word in words[one.end : other.first]]
    marked = "," in reading.gap(one.end) or "and" in between or "plus" in between
    if not marked or not _LISTING.issuperset(between) or other.first in reading.sentences:
        return False
    lowest = max(reading.sentence(one.first), one.first - _MOST_BETWEEN)
    if not listed and all(word.canonical != "then" for word in words[lowest : one.first]):
        return False
    return one.is_road() and other.is_road()


def _order_denied(first: Name, second: Name, evidence: Evidence) -> Rule | None:
    """Return the rule broken by telling that one name comes before another; None for none.

    Two roads that meet in one phase are listed there in the order driven. That they come the other
    way round is denied where the road of the later one goes on, else it is open: A, B, A is listed
    as A, B.
    """
    begins = min(evidence.phases_of(first))
    ends = max(evidence.phases_of(second))
    if begins != ends:
        return Rule.WRONG_PHASE if begins > ends else None
    roads = evidence.trip.phases[begins].road_names
    if not (first.text in roads and second.text in roads):
        return None
    if roads.index(first.text) <= roads.index(second.text):
        return None
    following = evidence.trip.phases[begins + 1 : begins + 2]
    goes_on = any(first.text in phase.road_names for phase in following)
    return Rule.WRONG_PHASE if goes_on else Rule.UNVERIFIED


def _apart(one: Name, other: Name, evidence: Evidence) -> int:
    """Return how many phases two names of the trip lie apart."""
    second = evidence.phases_of(other)
    return min(abs(p - q) for p in evidence.phases_of(one) for q in second)


def _is_beside(reading: Reading, end: int, start: int) -> bool:
    """Tell whether the words from one name to the next say no more than "on" or "in"."""
    plain = all(word.canonical in _BESIDE for word in reading.words[end:start])
    parted = any(
        number in reading.begins or reading.breaks(number) for number in range(end, start + 1)
    )
    return plain and not parted
