"""Scenarios without a model: stories from phrase banks, put to a map's own names.

    bank = read_bank(PROMPTS / "stride")
    told = bank.tell(Ask(scene_id="1203", category=expressive, slot=3, place=record_of_a_map))
    told.draft.description   ->  "A sing-along starts at Senaatintori. People walk up from ..."

A bank is a folder of stories by category; each says how it can be worded, where it can happen, who
is in it and what they do. Slots `{from}`, `{to}`, `{event}` are anchors of the map, `{place}` its
name, `{ground}` what one stands on, `{when}` a time of day. Neighbouring slots of one category take
other stories, other first sentences and other details, so that texts differ.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from pipeline.keys import Text
from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.phrase import Phrase
from pipeline.language.prompts import PROMPTS, files_hash
from pipeline.params import document_of
from pipeline.stride.maps import Anchor, AnchorKind, PlaceKind, Roads, StrideMap
from pipeline.stride.roles import ANYWHERE, EXITS, Draft, Role

FOLDER = PROMPTS / "stride"
_DETAILS = 2
_FAR_SHARE = 0.4  # of the candidates: the farthest ones


class Category(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the 11 kinds of crowd: name, meaning, and usual least and largest size."""

    code: Text
    meaning: Text
    people: tuple[int, int]


class AnchorWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a slot of a story may be.

    Attributes:
        kind: Kinds of anchor.
        far_from: Another slot that it is far from; null for none.
        inside_m: Least distance from the map's edge, metres.
    """

    kind: Annotated[list[AnchorKind], Meta(min_length=1)]
    far_from: Text | None = None
    inside_m: Annotated[float, Meta(ge=0)] = 0.0


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One story of a bank.

    Attributes:
        id: Unique in its category.
        pattern: Way the crowd moves; decides which questions are asked (patterns.yaml).
        roads: Who has the carriageways, vehicles (`driven`) or the crowd (`walked`): it fills a
            closed street, or flees and minds no kerb. A map without carriageways suits both.
        kinds: Kinds of place it can happen in.
        people: Least and largest crowd.
        duration_s: Seconds that are told.
        anchors: Slots that are anchors of the map.
        leads: First sentences.
        details: Sentences that may follow.
        roles: Who is in it; their places are slots, `anywhere` or `exits`.
        apart: How strongly people keep apart: 1 as usual.
    """

    id: Text
    pattern: Text
    roads: Roads
    kinds: Annotated[list[PlaceKind], Meta(min_length=1)]
    people: tuple[int, int]
    duration_s: float
    anchors: dict[str, AnchorWish]
    leads: Annotated[list[Text], Meta(min_length=1)]
    details: Annotated[list[Text], Meta(min_length=_DETAILS)]
    roles: Annotated[list[Role], Meta(min_length=1)]
    apart: Annotated[float, Meta(gt=0, le=3)] = 1.0


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """words.yaml: times of day, and what one stands on by kind of place."""

    when: Annotated[list[Text], Meta(min_length=1)]
    ground: dict[PlaceKind, Text]
    unnamed: dict[AnchorKind, Text]
    stop: Text
    middle: Text


class Ask(NamedTuple):
    """What a scenario is wanted for.

    Attributes:
        scene_id: Decides the wording.
        category: Kind of crowd.
        slot: Number among the scenarios of its category.
        place: The map.
    """

    scene_id: str
    category: Category
    slot: int
    place: StrideMap


class Told(NamedTuple):
    """A story that was told: its id, its pattern, and the draft."""

    story: str
    pattern: str
    draft: Draft


class Bank:
    """The stories of all categories."""

    def __init__(
        self, categories: list[Category], stories: dict[str, list[Story]], words: Words
    ) -> None:
        self.categories = {one.code: one for one in categories}
        self.stories, self._words = stories, words

    def suits(self, category: str, place: StrideMap) -> list[Story]:
        """Return the stories of a category that can happen at a place."""
        return [
            story
            for story in self.stories[category]
            if _fits(story, place) and all(self._choices(story, place).values())
        ]

    def tell(self, ask: Ask) -> Told:
        """Return the story of a slot.

        Raises:
            LookupError: No story of the category can happen there.
        """
        stories = self.suits(ask.category.code, ask.place)
        if not stories:
            raise LookupError(f"no story of {ask.category.code} can happen at {ask.place.map_id}")
        story = stories[ask.slot % len(stories)]
        choices = Choices(ask.scene_id, "stride_scenario")
        anchors = self._anchors(story, ask.place, choices)
        slots = self._slots(anchors, ask.place, choices)
        texts = _sentences(story, ask.slot // len(stories))
        description = " ".join(Phrase(text).fill(slots) for text in texts)
        least, most = story.people
        return Told(
            story.id,
            story.pattern,
            Draft(
                description=description,
                crowd_size=least + choices.below(most - least + 1),
                duration_s=story.duration_s,
                event=anchors["event"].id if "event" in anchors else None,
                roles=[_placed(role, anchors) for role in story.roles],
                apart=story.apart,
            ),
        )

    def _anchors(self, story: Story, place: StrideMap, choices: Choices) -> dict[str, Anchor]:
        """Choose the story's anchors, those that others are far from first.

        No two have one name: a street has several exits, and nobody goes from it to itself.
        """
        chosen: dict[str, Anchor] = {}
        for slot, candidates in self._choices(story, place).items():
            called = {self._called(one, place) for one in chosen.values()}
            found = [one for one in candidates if self._called(one, place) not in called]
            other = chosen.get(story.anchors[slot].far_from or "")
            if other is not None:
                found.sort(key=lambda one: (-_apart(one, other), one.id))
                found = found[: max(1, math.ceil(len(found) * _FAR_SHARE))]
            named = [one for one in found if one.name]
            chosen[slot] = choices.pick(named or found)
        return chosen

    def _choices(self, story: Story, place: StrideMap) -> dict[str, list[Anchor]]:
        """Return what each slot may be, so that any other slot still finds another name."""
        wishes = sorted(story.anchors.items(), key=lambda item: bool(item[1].far_from))
        found = {slot: _candidates(wish, place) for slot, wish in wishes}
        names = {slot: {self._called(one, place) for one in ones} for slot, ones in found.items()}
        return {
            slot: [
                one
                for one in ones
                if all(
                    names[other] - {self._called(one, place)} for other in found if other != slot
                )
            ]
            for slot, ones in found.items()
        }

    def _slots(
        self, anchors: dict[str, Anchor], place: StrideMap, choices: Choices
    ) -> dict[str, str]:
        when, ground = choices.pick(self._words.when), self._words.ground[place.kind]
        slots = {"place": place.name, "ground": ground, "when": when}
        slots |= {name: self._called(anchor, place) for name, anchor in anchors.items()}
        return slots | {name.capitalize(): _capital(text) for name, text in slots.items()}

    def _called(self, anchor: Anchor, place: StrideMap) -> str:
        """Return what a text calls an anchor."""
        ground = self._words.ground[place.kind]
        if anchor.kind == "centre":
            if anchor.name and anchor.name not in {place.name, *place.streets}:
                return anchor.name
            return Phrase(self._words.middle).fill({"ground": ground})
        if anchor.kind == "stop":
            return Phrase(self._words.stop).fill({"name": anchor.name}) if anchor.name else (
                self._words.unnamed["stop"]
            )  # fmt: skip
        if anchor.name and anchor.name != place.name:
            return anchor.name
        words = {"side": _side(anchor, place), "ground": ground}
        return Phrase(self._words.unnamed[anchor.kind]).fill(words)


def _sentences(story: Story, turn: int) -> list[str]:
    """Return the sentences of a story when it is told for the `turn`-th time, from 0.

    The first sentences come in turn, and so do pairs of details, each pair before any comes again
    the other way round: questions follow the details, so they differ from turn to turn as well.
    """
    pairs = list(combinations(story.details, _DETAILS))
    pairs += [pair[::-1] for pair in pairs]
    # A step that shares no divisor with the number of pairs visits all of them.
    step = next(n for n in (5, 7, 11, 13) if math.gcd(n, len(pairs)) == 1)
    return [story.leads[turn % len(story.leads)], *pairs[turn * step % len(pairs)]]


def _fits(story: Story, place: StrideMap) -> bool:
    if place.kind not in story.kinds or place.roads not in {story.roads, "none"}:
        return False
    exits = [anchor for anchor in place.anchors if anchor.kind == "exit"]
    # Two slots may want the same kind of anchor: one is not enough then.
    enough = all(len(_candidates(wish, place)) >= 2 for wish in story.anchors.values())
    single = len(story.anchors) == 1 and all(
        _candidates(wish, place) for wish in story.anchors.values()
    )
    return len(exits) >= 3 and (enough or single)


def _candidates(wish: AnchorWish, place: StrideMap) -> list[Anchor]:
    """Return the anchors a slot may be, kinds in the order of the wish."""
    found = [one for kind in wish.kind for one in place.anchors if one.kind == kind]
    return [one for one in found if _to_edge(one, place) >= wish.inside_m]


def _to_edge(anchor: Anchor, place: StrideMap) -> float:
    return min(anchor.x_m, anchor.y_m, place.width_m - anchor.x_m, place.height_m - anchor.y_m)


def _placed(role: Role, anchors: dict[str, Anchor]) -> Role:
    """Put the map's anchors in the place of a role's slots."""

    def anchor(slot: str) -> str:
        return slot if slot in {ANYWHERE, EXITS} else anchors[slot].id

    return msgspec.structs.replace(
        role,
        start=anchor(role.start),
        to=[anchor(slot) for slot in role.to],
        near=anchor(role.near) if role.near else None,
    )


def _apart(one: Anchor, other: Anchor) -> float:
    return math.hypot(one.x_m - other.x_m, one.y_m - other.y_m)


def _side(anchor: Anchor, place: StrideMap) -> str:
    """Return the side of the map an anchor lies on."""
    east, north = anchor.x_m / place.width_m - 0.5, anchor.y_m / place.height_m - 0.5
    if abs(east) > abs(north):
        return "eastern" if east > 0 else "western"
    return "northern" if north > 0 else "southern"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def read_bank(folder: Path) -> Bank:
    """Read categories, stories and words.

    Raises:
        ParameterError: A file is missing or broken, or a story names a slot it does not have.
    """
    categories: list[Category] = document_of(folder / "categories.yaml", _Categories).categories
    stories = {
        one.code: document_of(folder / "stories" / f"{one.code.lower()}.yaml", _Stories).stories
        for one in categories
    }
    return Bank(categories, stories, document_of(folder / "words.yaml", Words))


class _Categories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    categories: list[Category]


class _Stories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stories: Annotated[list[Story], Meta(min_length=1)]


@cache
def bank() -> Bank:
    """Return the project's own bank, read once."""
    return read_bank(FOLDER)


def bank_files(folder: Path = FOLDER) -> Sequence[Path]:
    """Return the files that decide what the bank tells."""
    stories = sorted((folder / "stories").glob("*.yaml"))
    return folder / "categories.yaml", folder / "words.yaml", *stories


@cache
def bank_revision() -> str:
    """Return the version of what decides what is told: the banks, and the code by its bytes."""
    return f"{_VERSION}+banks={files_hash([*bank_files(), Path(__file__)])[:12]}"


# Raise it when the code above tells other stories from the same banks.
_VERSION = 3
