"""One trip's life: what every stage made of it, as nested frozen records.

TripLife(raw=RawTrip(41 points),
         cleaned=[CleanedLife(CleanedTrip(35 points), drives=[DriveLife(58 segments, ...)])],
         rejections=[], endings=[Ending("17", "drive", "phased", ...)], final=...)
"""

from typing import Literal

import msgspec

from pipeline.records import (
    CleanedTrip,
    Finding,
    Intents,
    JudgedTrip,
    MatchedPoints,
    MatchedTrip,
    PhasedTrip,
    Provenance,
    RawTrip,
    Rejection,
    Repair,
    SelectedTrip,
    Texts,
)

Kind = Literal["row", "raw trip", "cleaned trip", "drive"]
State = Literal["released", "phased", "rejected", "waiting", "lost", "contradictory"]


class DrivenRoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the ground knows of one driven segment; all but the id null where roads lack it."""

    edge_id: str
    name: str | None
    highway: str | None
    length_m: float | None


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a drive: its plan, and its texts with their origin where they are written."""

    intents: Intents
    texts: Texts | None
    provenance: Provenance | None


class Examined(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What quality control found in a drive's texts, what judges scored, and whether it was taken.

    `names` and `claims` count what the texts say, `grounded` and `supported` what of it holds.
    """

    names: int
    grounded: int
    claims: int
    supported: int
    findings: list[Finding]
    repairs: list[Repair]
    judged: list[JudgedTrip]
    selected: SelectedTrip | None


class DriveLife(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One connected drive: its segments, their roads in the same order, its phases, its texts.

    `examined` is null for a drive that quality control did not let pass, or has not seen yet.
    """

    trip: MatchedTrip
    roads: list[DrivenRoad]
    phased: PhasedTrip | None
    said: Said | None
    examined: Examined | None


class CleanedLife(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One cleaned trip, where its points came to lie, and the drives made from it."""

    trip: CleanedTrip
    points: MatchedPoints | None
    drives: list[DriveLife]


class Ending(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The one state an item is in, the stage that put it there, and why (or what to run next)."""

    item_id: str
    kind: Kind
    state: State
    stage: str
    reason: str
    detail: str


class TripLife(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that the artifacts hold of one raw trip.

    `raw` is null only for a row of a raw file that could not be read as a trip. `endings` holds
    one entry per item the trip came down to, each in exactly one state; `final` is the state of
    the trip as a whole, as the loss ledger counts it.
    """

    city: str
    asked_id: str
    time_zone: str
    raw: RawTrip | None
    cleaned: list[CleanedLife]
    rejections: list[Rejection]
    endings: list[Ending]
    final: Ending

    @property
    def drives(self) -> list[DriveLife]:
        """Return the drives of all cleaned trips, in order."""
        return [drive for cleaned in self.cleaned for drive in cleaned.drives]

    @property
    def simulated(self) -> bool:
        """Tell whether the GPS trace was simulated."""
        return any(cleaned.trip.simulated for cleaned in self.cleaned)
