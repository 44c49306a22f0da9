"""What a trip has to say, each wish ready to be worded in any role.

    mention of Target("2.1", "roads", names=["Rua A", "Rua B"])
    mention.word("with", choices)       ->  "via Rua A and then Rua B"
    mention.word("do", choices)         ->  "follow Rua A before taking Rua B"

A mention holds proper names only as the target has them, so nothing can be said that the target
does not hold. A name that no text may hold (`wording.sayable`) is left out; where a destination
loses its only name, it is told without one.
"""

from collections.abc import Mapping, Sequence

from pipeline.language.engines.template.banks import Banks
from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.kinds import BARE
from pipeline.language.engines.template.phrase import Phrase
from pipeline.language.engines.template.skeletons import CLOCK, COURSE, PACE, WAY
from pipeline.language.engines.template.wording import (
    Clock,
    in_a_row,
    roads_in_order,
    rounded_duration,
    sayable,
    without_article,
)
from pipeline.language.vocabulary import JOINT
from pipeline.records import Target

# The phrases of a target, by scenario and kind; a pace goes by its feature.
_KIND_OF = {
    ("1.1", "place"): "place",
    ("1.1", "road"): "road",
    ("1.2", "zone"): "zone_end",
    ("1.2", "facility"): "facility_end",
    ("2.1", "roads"): "roads",
    ("2.2", "facility"): "stop",
    ("2.3", "zone"): "pass",
    ("2.3", "district"): "district",
    ("3.2", "stay_on"): "stay_on",
    ("3.2", "heading"): "heading",
    ("3.3", "zone_and_heading"): "zone_and_heading",
    ("3.3", "zone_and_road"): "zone_and_road",
    ("4.1", "clock"): "clock",
}
_GROUP_OF = {
    "roads": WAY, "stop": WAY, "pass": WAY, "district": WAY,
    "slow": PACE, "steady": PACE, "brisk": PACE, "clock": CLOCK,
}  # fmt: skip
UNNAMED_END = "unnamed_end"


class Mention:
    """One target, in words.

    Attributes:
        target: What it rests on.
        kind: Its key in targets.yaml.
        group: Which of the four groups of wishes it is one of.
        names: The proper names it may say.
        known: The slots it has a value for.
    """

    __slots__ = ("_bank", "_fixed", "_open", "group", "kind", "known", "names", "target")

    def __init__(
        self,
        target: Target,
        kind: str,
        bank: Mapping[str, tuple[Phrase, ...]],
        *,
        fixed: dict[str, str],
        free: dict[str, Sequence[str]],
        names: Sequence[str],
    ) -> None:
        """Make a mention.

        Args:
            target: What it rests on.
            kind: Its key in targets.yaml.
            bank: Phrases of that kind by role.
            fixed: Values of slots that are always the same.
            free: Values of slots that are chosen anew each time.
            names: The proper names among the values.
        """
        self.target, self.kind, self.names = target, kind, names
        self.group = _GROUP_OF.get(kind, COURSE)
        self._bank, self._fixed, self._open = bank, fixed, free
        self.known = {*fixed, *free}

    def word(
        self, role: str, choices: Choices, *, capital: bool = False, bare: bool = False
    ) -> str:
        """Return the target in one role.

        Args:
            role: A role of targets.yaml.
            choices: What decides between phrases.
            capital: Whether it begins a sentence.
            bare: Without anything beside its own name: no road or district for orientation.
        """
        if bare and self.known & BARE:
            phrase = choices.pick_fitting(self._bank[role], BARE)
            return phrase.fill_capital(self._fixed) if capital else phrase.fill(self._fixed)
        return self.filled(self._bank[role], choices, capital=capital)

    def filled(self, phrases: Sequence[Phrase], choices: Choices, *, capital: bool = False) -> str:
        """Return one of the phrases of another bank with this target's values."""
        phrase = choices.pick_fitting(phrases, self.known)
        values: Mapping[str, str] = self._fixed
        if self._open:
            values = {
                slot: choices.pick(self._open[slot]) if slot in self._open else self._fixed[slot]
                for slot in phrase.slots
            }
        return phrase.fill_capital(values) if capital else phrase.fill(values)


class Mentions:
    """Makes mentions from targets; one for all trips."""

    def __init__(self, banks: Banks) -> None:
        self._banks = banks

    def of(
        self, target: Target, *, clock: Clock | None, duration_s: float, beside: Mapping[str, str]
    ) -> Mention | None:
        """Return the mention of a target.

        Args:
            target: The target.
            clock: When the trip starts, None where it has no clock.
            duration_s: How long it takes, seconds.
            beside: Slots for orientation at the destination: road, district, as far as known.

        Returns:
            None where nothing of it can be said.
        """
        names = [name for name in target.names if sayable(name)]
        kind = self._kind(target)
        fixed: dict[str, str] = {}
        free: dict[str, Sequence[str]] = {}
        features = target.feature.split(JOINT) if target.feature else []
        if target.names and not names:
            if target.scenario[0] != "1":
                return None
            kind = UNNAMED_END
        elif kind in {"place", "road"}:
            near = {slot: name for slot, name in beside.items() if name not in names[0]}
            if kind == "road":
                near.pop("road", None)
            fixed = {"name": names[0], **near}
        elif kind == "roads":
            fixed, free = _roads_slots(names)
        elif names:
            fixed = {"district" if kind == "district" else "road": names[0]}
        elif kind == "clock":
            fixed, free = self._clock_slots(features, clock)
        elif _GROUP_OF.get(kind) == PACE and duration_s >= 55:
            fixed = {"minutes": rounded_duration(duration_s)}
        for feature in features:
            self._add_feature(feature, fixed, free)
        bank = self._banks.targets[kind]
        return Mention(target, kind, bank, fixed=fixed, free=free, names=names)

    def _kind(self, target: Target) -> str:
        if target.scenario == "3.1":
            return target.polarity or "prefer"
        if target.kind in {"turns", "pace"}:
            return target.feature
        if target.kind == "zone_and_turns":
            return f"zone_and_{target.feature.partition(JOINT)[2]}"
        return _KIND_OF[target.scenario, target.kind]

    def _add_feature(
        self, feature: str, fixed: dict[str, str], free: dict[str, Sequence[str]]
    ) -> None:
        """Add the slots of a zone, a kind of place or a heading."""
        banks = self._banks
        if feature in banks.zones:
            free |= banks.zones[feature]
        elif feature in banks.facilities:
            free["stop"] = banks.facilities[feature]
            fixed["stop_plain"] = banks.facilities[feature][0]
            fixed["stop_noun"] = without_article(fixed["stop_plain"])
        elif feature in banks.headings:
            fixed |= banks.headings[feature]

    def _clock_slots(
        self, features: Sequence[str], clock: Clock | None
    ) -> tuple[dict[str, str], dict[str, Sequence[str]]]:
        day, part = features
        fixed = {"hour": clock.rounded} if clock else {}
        days = (day, clock.day) if clock else (day,)
        said = [self._banks.clock[part, each] for each in days]
        return fixed, {slot: tuple(w for words in said for w in words[slot]) for slot in said[0]}


def _roads_slots(names: Sequence[str]) -> tuple[dict[str, str], dict[str, Sequence[str]]]:
    fixed = {"chain": " > ".join(names)}
    if len(names) > 1:
        fixed |= {"first": names[0], "rest": in_a_row(names[1:], "and then")}
    if len(names) == 2:
        fixed["second"] = names[1]
    free: dict[str, Sequence[str]] = {"roads": roads_in_order(names)}
    if len(names) > 1:
        free["series"] = free["roads"]
    return fixed, free
