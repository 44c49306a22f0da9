"""What a scenario says of the people in it, before anybody has a place: a draft and its roles.

    Draft(description="A street musician begins to play ...", crowd_size=48, duration_s=60.0,
          event="centre_1", roles=[Role("listeners", share=0.87, motion="gather", ...), ...])

A model's answer and a story of the phrase banks both become a draft, so that all that follows is
the same for both. Places are anchors of the map by id; `anywhere` and `exits` are words of their
own. What a role leaves out has the value stated here: nobody waits, nobody has company.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pipeline.keys import Text

Motion = Literal["walk", "gather", "flee", "stay", "wander", "queue", "circle"]
ANYWHERE, EXITS = "anywhere", "exits"

Metres = Annotated[float, Meta(ge=0, le=500)]
Seconds = Annotated[float, Meta(ge=0, le=600)]
Count = Annotated[int, Meta(ge=1, le=50)]


class Role(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part some of the people play.

    Attributes:
        name: In words.
        share: Share of all people, above 0 to 1.
        motion: `walk` to a goal; `gather` around the event and stay; `flee` from the event to an
            exit; `stay` on the spot; `wander` from spot to spot; `queue` at the event; `circle`
            round and round it.
        start: Anchor they start around, or `anywhere`.
        speed_mps: Mean and standard deviation of the speed they want, m/s.
        start_m: Least and largest distance from the anchor at the start, metres on foot.
        to: Anchors they go to, each drawing one; `exits` for any. Empty for those who stay or
            wander, and for those who flee, who choose the best exit.
        ring_m: Least and largest distance from the event of those who gather; of a queue, the first
            is where it begins; of those who circle, the distance they keep.
        near: Anchor a wanderer keeps near; null for none.
        near_m: Least and largest distance from it, metres.
        group: Smallest and largest number of people who keep together.
        delay_s: Seconds before they set off.
        pause_s: Seconds a wanderer stops at a spot, or a queue takes to serve one person.
        moving: Whether they are under way already in the first moment.
    """

    name: Text
    share: Annotated[float, Meta(gt=0, le=1)]
    motion: Motion
    start: Text
    speed_mps: tuple[Annotated[float, Meta(gt=0, le=6)], Annotated[float, Meta(ge=0, le=2)]]
    start_m: tuple[Metres, Metres] = (0.0, 0.0)
    to: list[Text] = []
    ring_m: tuple[Metres, Metres] = (0.0, 0.0)
    near: Text | None = None
    near_m: tuple[Metres, Metres] = (0.0, 0.0)
    group: tuple[Count, Count] = (1, 1)
    delay_s: tuple[Seconds, Seconds] = (0.0, 0.0)
    pause_s: tuple[Seconds, Seconds] = (0.0, 0.0)
    moving: bool = False


class Draft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A scenario in words and roles.

    Attributes:
        description: The context text.
        crowd_size: People.
        duration_s: Seconds that are told.
        event: Anchor around which it happens; null where there is no such place.
        roles: At least one; their shares add up to 1.
        apart: How strongly people keep apart: 1 as usual, less in a crush.
    """

    description: Text
    crowd_size: Annotated[int, Meta(ge=2, le=2000)]
    duration_s: Annotated[float, Meta(ge=5, le=600)]
    event: Text | None
    roles: Annotated[list[Role], Meta(min_length=1)]
    apart: Annotated[float, Meta(gt=0, le=3)] = 1.0


def named_anchors(draft: Draft) -> list[str]:
    """Return every anchor a draft names, each once, in order."""
    names: list[str | None] = [draft.event]
    for role in draft.roles:
        names += [role.start, *role.to, role.near]
    found = [name for name in names if name is not None and name not in {ANYWHERE, EXITS}]
    return list(dict.fromkeys(found))


def head_counts(draft: Draft) -> list[int]:
    """Return how many people play each role: shares of the crowd, largest remainders up.

    Shares count in relation to each other, so that all people have a role and none has two.
    """
    whole = sum(role.share for role in draft.roles)
    exact = [role.share / whole * draft.crowd_size for role in draft.roles]
    counts = [int(part) for part in exact]
    order = sorted(range(len(exact)), key=lambda n: (counts[n] - exact[n], n))
    for number in order[: draft.crowd_size - sum(counts)]:
        counts[number] += 1
    return counts
