"""What keeps a scenario out: faults of a draft, of its places, and texts that were there before.

    fault_of_draft(draft, category, crowd_map)        ->  Fault("unreachable", "goal exit_14: ...")
    TextFilter().seen("Fans sing at Senaatintori.", names)   ->  None, and remembers it

Every reason has a code; what is kept out is counted and never mended.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isfinite, isnan

import numpy as np

from pipeline.stride.maps import CrowdMap, StrideMap
from pipeline.stride.roles import ANYWHERE, EXITS, Draft, Role, head_counts, named_anchors
from pipeline.stride.scenario_records import Person
from pipeline.stride.states import Fault
from pipeline.stride.stories import Category
from pipeline.stride.ways import Ways

# Words a text must have, at least and at most.
_WORDS = (8, 90)
_FASTEST_MPS = 4.0
_DURATION_S = (10.0, 180.0)
_SHARE_SLACK = 0.011
_NEEDS_EVENT = frozenset({"gather", "flee", "queue", "circle"})
_NEEDS_GOAL = frozenset({"walk"})
# Numbers with units, and words of the prompt: a text is not told by coordinates.
_MACHINE = re.compile(
    r"\d+\s*(?:m|px|pixels?|metres?|meters?|m/s|km/h|seconds?|s|people|persons?)\b|"
    r"\b(?:exit|entrance|stop|centre)_\d+|\bsimulat|\btrajector|\bagents?\b|\banchors?\b",
    re.IGNORECASE,
)
# What may follow the place that people come from.
_WAYS = r"(?:across|along|into|over|past|through|to|towards?|via)"
_TOKEN = re.compile(r"\w+")


def fault_of_draft(draft: Draft, category: Category, ways: Ways) -> Fault | None:
    """Return what is wrong with a draft before anybody has a place; None: nothing is.

    Reasons: those of `fault_of_told`, and `unreachable`.
    """
    crowd_map = ways.crowd_map
    fault = fault_of_told(draft, category, crowd_map.record)
    if fault:
        return fault
    for name in named_anchors(draft):
        anchor = crowd_map.anchor(name)
        place = np.array([[anchor.x_m, anchor.y_m]])
        if not isfinite(float(ways.to(*crowd_map.middle).distance(place)[0])):
            return Fault("unreachable", f"{name}: no way leads there")
    return None


def fault_of_told(draft: Draft, category: Category, place: StrideMap) -> Fault | None:
    """Return what is wrong with a draft by what its writer was told; None: nothing is.

    Reasons: `implausible`, `unknown_anchor`, `unreachable` (no exit), `density`.
    """
    words = _implausible(draft, category) or _to_where_it_began(draft.description, place)
    if words:
        return Fault("implausible", words)
    kinds = {anchor.id: anchor.kind for anchor in place.anchors}
    for name in named_anchors(draft):
        if name not in kinds:
            return Fault("unknown_anchor", f"{name}: the map {place.map_id} has none")
    if "exit" not in kinds.values() and _uses_exits(draft):
        return Fault("unreachable", "the map has no exit")
    room = place.walkable_m2 / draft.crowd_size
    if room < 1.0:
        return Fault("density", f"{room:.2f} m2 of ground a person, expected 1 or more")
    return None


def _uses_exits(draft: Draft) -> bool:
    return any(role.motion in {"flee", "queue"} or EXITS in role.to for role in draft.roles)


def _implausible(draft: Draft, category: Category) -> str:
    """Say what cannot be meant; "" if all can."""
    return next(filter(None, _doubts(draft, category)), "")


def _doubts(draft: Draft, category: Category) -> Iterator[str]:
    """Yield what cannot be meant, one thing after the other, "" for what can."""
    yield _implausible_text(draft.description)
    least, most = category.people
    if not least // 2 <= draft.crowd_size <= 2 * most:
        yield f"{draft.crowd_size} people, expected about {least} to {most} ({category.code})"
    if not _DURATION_S[0] <= draft.duration_s <= _DURATION_S[1]:
        yield f"{draft.duration_s:g} s, expected {_DURATION_S[0]:g} to {_DURATION_S[1]:g}"
    if draft.event in {ANYWHERE, EXITS}:
        yield f"the event is at `{draft.event}`, expected an anchor"
    total = sum(role.share for role in draft.roles)
    if isnan(total) or abs(total - 1) > _SHARE_SLACK:
        yield f"shares of roles add up to {total:.2f}, expected 1"
    for role, count in zip(draft.roles, head_counts(draft), strict=True):
        if not count:
            yield f"{role.name}: a share of {role.share:g} is nobody"
        fault = _implausible_role(role, draft)
        yield f"{role.name}: {fault}" if fault else ""


def _implausible_text(text: str) -> str:
    words = len(text.split())
    if not _WORDS[0] <= words <= _WORDS[1]:
        return f"a text of {words} words, expected {_WORDS[0]} to {_WORDS[1]}"
    machine = _MACHINE.search(text)
    return f"{machine[0]!r} in the text, expected words a passer-by would use" if machine else ""


def _to_where_it_began(text: str, place: StrideMap) -> str:
    """Say that a text leads from a place to itself; "" if none does.

    "From table to table" is no fault: a place has a name of the map or an article.
    """
    names = "|".join(re.escape(name) for name in _names(place))
    found = re.search(
        rf"\bfrom (?:the )?(?P<place>{names}|the [^,.;]+?)(?= {_WAYS}\b)[^.;]*?"
        r"\b(?:to|towards?|into) (?:the )?(?P=place)\b",
        text,
        re.IGNORECASE,
    )
    return f"{found[0]!r} in the text, expected two places" if found else ""


def _implausible_role(role: Role, draft: Draft) -> str:
    for name in ("start_m", "ring_m", "near_m", "group", "delay_s", "pause_s"):
        low, high = getattr(role, name)
        if low > high:
            return f"{name} from {low:g} to {high:g}"
    rules = (
        (role.speed_mps[0] > _FASTEST_MPS, f"wants to be faster than {_FASTEST_MPS:g} m/s"),
        (
            role.motion in _NEEDS_EVENT and draft.event is None and not role.to,
            f"{role.motion} without an event",
        ),
        (role.motion in _NEEDS_GOAL and not role.to, f"{role.motion} without a goal"),
        (role.delay_s[0] >= draft.duration_s, "sets off after the end"),
        (role.start == EXITS or ANYWHERE in role.to, "starts at `exits` or goes `anywhere`"),
        (
            role.motion in {"gather", "queue", "circle"} and EXITS in role.to[:1],
            f"{role.motion} at `exits`, expected one anchor",
        ),
        (role.near in {ANYWHERE, EXITS}, f"keeps near `{role.near}`, expected an anchor"),
    )
    return next((words for broken, words in rules if broken), "")


def fault_of_people(people: list[Person], ways: Ways) -> Fault | None:
    """Return what is wrong with places and goals; None: nothing is.

    Reasons: `obstacle_conflict`, `unreachable`.
    """
    at = np.array([[one.x_m, one.y_m] for one in people])
    radius = np.array([one.radius_m for one in people])
    close = ways.crowd_map.walls.distance(at) < radius
    if close.any():
        number = int(np.flatnonzero(close)[0])
        return Fault("obstacle_conflict", f"person {number} stands in a wall at {at[number]}")
    goals = np.array([[one.goal_x_m, one.goal_y_m] for one in people])
    for name in sorted({one.goal for one in people if one.goal is not None}):
        mine = np.array([one.goal == name for one in people])
        if not np.isfinite(ways.to_anchor(name).distance(at[mine])).all():
            return Fault("unreachable", f"goal {name}: no way leads there")
    grid = ways.grid
    outside = (goals < 0).any(axis=1) | (goals > np.array([grid.width_m, grid.height_m])).any(
        axis=1
    )
    if outside.any():
        return Fault("unreachable", f"a goal outside the map at {goals[outside][0]}")
    return None


class TextFilter:
    """Remembers texts by their pairs of words, names left out."""

    def __init__(self, most_alike: float) -> None:
        """Start with no texts.

        Args:
            most_alike: Largest share of pairs of words two texts may have in common, 0 to 1.
        """
        self._most_alike = most_alike
        self._seen: list[tuple[str, frozenset[tuple[str, str]]]] = []

    def seen(self, scene_id: str, text: str, crowd_map: CrowdMap) -> Fault | None:
        """Return the fault `near_duplicate`, or remember the text and return None."""
        pairs = word_pairs(masked(text, names_of(crowd_map)))
        for other, known in self._seen:
            both = len(pairs | known)
            alike = len(pairs & known) / both if both else 1.0
            if alike > self._most_alike:
                return Fault("near_duplicate", f"{alike:.0%} of the word pairs of scenario {other}")
        self._seen.append((scene_id, pairs))
        return None


def names_of(crowd_map: CrowdMap) -> list[str]:
    """Return every name a text on a map can hold, longest first."""
    return _names(crowd_map.record)


def _names(place: StrideMap) -> list[str]:
    names = {place.name, *place.streets, *place.landmarks}
    names |= {anchor.name for anchor in place.anchors if anchor.name}
    return sorted(names, key=lambda name: (-len(name), name))


def masked(text: str, names: Iterable[str]) -> str:
    """Return a text with names as `name` and numbers as `number`."""
    for name in names:
        text = text.replace(name, " name ")
    return re.sub(r"\d+", " number ", text)


def word_pairs(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbouring words, in lower case."""
    words = [word.casefold() for word in _TOKEN.findall(text)]
    return frozenset(pairwise(words))
