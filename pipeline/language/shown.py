"""What a prompt shows of a trip: Listing 1's fields and the named places of each phase.

    shown_trip(PlannedTrip("1626278", 16 phases with cells, coordinates, metres, ...))
    ->  ShownTrip("1626278", ShownMeta(58, 16, "Saturday, Jun 14, ..."), [ShownPhase(0, "O", ...)])

Of the two times of a phase the one spent in it is shown, not the paper's duration, which is 0 for
one segment however long that takes: the times shown add up to that of the trip. The streets it
starts and ends on are shown too (`ends.py`), as the road names of a phase are a set.

No cell id, no coordinate and no area narrative is shown (paper A.3.2 and A.3.6: the annotator
ignores narratives, so it never gets them).
"""

import msgspec

from pipeline.language.ends import end_street, start_street
from pipeline.records import Place, PlannedTrip


class ShownMeta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head of a phase sequence."""

    n_rids: int
    n_phases: int
    start_time: str
    time_spent: str
    start_road: str | None
    end_road: str | None


class ShownPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named place beside the road; `kind` is its category in words, null where unknown."""

    name: str
    kind: str | None


class ShownPhase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One phase and its named places."""

    p: int
    role: str
    dir: str
    n: int
    time_spent: str
    road_names: list[str]
    desc: str
    places: list[ShownPlace]


class ShownTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trip as the annotator reads it."""

    traj_id: str
    meta: ShownMeta
    phases: list[ShownPhase]


def shown_trip(trip: PlannedTrip) -> ShownTrip:
    """Return what a prompt shows of a planned trip."""
    places: dict[int, list[Place]] = {}
    for place in trip.places:
        places.setdefault(place.phase, []).append(place)
    meta = trip.meta
    return ShownTrip(
        traj_id=trip.trip_id,
        meta=ShownMeta(
            n_rids=meta.n_rids,
            n_phases=meta.n_phases,
            start_time=meta.start_time,
            time_spent=meta.time_spent,
            start_road=start_street(meta),
            end_road=end_street(meta),
        ),
        phases=[
            ShownPhase(
                p=one.p,
                role=one.role,
                dir=one.dir,
                n=one.n,
                time_spent=one.time_spent,
                road_names=one.road_names,
                desc=one.desc,
                places=[ShownPlace(p.name, p.category) for p in places.get(one.p, ())],
            )
            for one in trip.phases
        ],
    )
