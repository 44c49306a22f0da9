"""Trips in memory for the tests of the language chapter.

phased_trip(step(roads=["Rua A"]), step(roads=["Rua B"]), step(roads=["Rua C"]))
planned_trip(trip, places=[place(2, "Café Central")])
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from pipeline.city.description import describe_cell
from pipeline.records import (
    Intents,
    Phase,
    PhasedTrip,
    Place,
    PlannedTrip,
    QueryPlan,
    StylePlan,
    Target,
    TripMeta,
)
from pipeline.trips.phases import COMPASS

START_S = 1402974660.0  # Tuesday, Jun 17, 2014 at 4:11 AM in Lisbon
START_TIME = "Tuesday, Jun 17, 2014 at 4:11 AM"


def area(
    geo_tag: str = "URBAN/INLAND",
    *,
    natural: Iterable[str] = (),
    commercial: Iterable[str] = (),
    facilities: Iterable[str] = (),
    district: str | None = None,
) -> str:
    """Word an area as the `cells` stage does."""
    return describe_cell(
        geo_tag,
        natural=natural,
        commercial=commercial,
        facilities=facilities,
        district=district,
    )


def cell_of(number: int) -> str:
    """Return an H3-like cell name; each number another one."""
    return f"8{number:014x}"


def step(
    roads: Iterable[str] = (),
    desc: str = "",
    *,
    cell: str | None = None,
    n: int = 1,
    length_m: float = 100.0,
    duration_s: float = 0.0,
    heading_deg: float = 0.0,
    heading_strength: float = 1.0,
) -> dict[str, Any]:
    """Return what one phase says; `phased_trip` adds its number, role and time."""
    return {
        "dir": COMPASS[int((heading_deg + 22.5) // 45) % 8],
        "n": n,
        "duration": f"{round(duration_s)} sec",
        "road_names": list(roads),
        "desc": desc,
        "cell": cell,
        "duration_s": duration_s,
        "length_m": length_m,
        "heading_deg": heading_deg,
        "heading_strength": heading_strength,
    }


def duration_of(seconds: float) -> str:
    """Word whole seconds as phases do."""
    return f"{int(seconds // 60)} min {int(seconds % 60)} sec"


def phased_trip(
    *steps: dict[str, Any],
    trip_id: str = "t1",
    start_time: str = START_TIME,
    t_start_s: float = START_S,
    duration_s: float = 600.0,
    **meta: Any,
) -> PhasedTrip:
    """Build a phased trip from its steps, two at least; cells differ where none are given.

    It takes `duration_s` to the entry of its last phase and ends there; it starts on the first road
    of its first phase and ends on the last one of its last, but for what `meta` says otherwise.
    """
    last = len(steps) - 1
    each_s = duration_s / max(last, 1)
    phases = [
        Phase(
            p=p,
            role="O" if p == 0 else "D" if p == last else "T",
            t_enter_s=t_start_s + each_s * p,
            time_spent=duration_of(each_s if p < last else 0),
            time_spent_s=each_s if p < last else 0.0,
            **(said | {"cell": said["cell"] or cell_of(p)}),
        )
        for p, said in enumerate(steps)
    ]
    first, final = phases[0].road_names, phases[-1].road_names
    head = TripMeta(
        n_rids=sum(phase.n for phase in phases),
        n_phases=len(phases),
        start_time=start_time,
        total_duration=duration_of(duration_s),
        time_spent=duration_of(duration_s),
        start_road=first[0] if first else None,
        start_class="residential",
        end_road=final[-1] if final else None,
        end_class="residential",
        t_start_s=t_start_s,
        duration_s=duration_s,
        time_spent_s=duration_s,
        length_m=sum(phase.length_m for phase in phases),
        simulated=False,
    )
    return PhasedTrip(trip_id, msgspec.structs.replace(head, **meta), phases)


def place(
    phase: int,
    name: str,
    *,
    category: str | None = "cafe",
    group: str = "dining",
    distance_m: float = 10.0,
    id: str | None = None,  # noqa: A002 - the field's name
) -> Place:
    """Build a named place beside a phase; its id comes from phase and name unless given."""
    return Place(
        phase=phase,
        id=id or f"{phase}/{name}",
        name=name,
        category=category,
        group=group,
        lon=-8.61,
        lat=41.15,
        distance_m=distance_m,
    )


def target(
    scenario: str,
    kind: str,
    *,
    phases: Iterable[int] = (),
    names: Iterable[str] = (),
    ids: Iterable[str] = (),
    feature: str = "",
    polarity: Any = "",
) -> Target:
    """Build the evidence of a scenario."""
    return Target(
        scenario=scenario,
        kind=kind,
        phases=list(phases),
        names=list(names),
        ids=list(ids),
        feature=feature,
        polarity=polarity,
    )


PLAIN_STYLES = (
    StylePlan(style="literal", form="imperative", length="brief"),
    StylePlan(style="concise", form="terse", length="short_phrase"),
    StylePlan(style="chatty", form="question", length="one_liner"),
)


def planned_trip(
    trip: PhasedTrip | None = None,
    *,
    places: Iterable[Place] = (),
    targets: Iterable[Target] = (),
    drawn: Iterable[str] | None = None,
    persona: str = "relaxed",
    styles: Iterable[StylePlan] = PLAIN_STYLES,
    queries: Iterable[QueryPlan] = (),
    waypoint: Target | None = None,
    street: str | None = None,
    time_context: str | None = None,
) -> PlannedTrip:
    """Build a planned trip; without targets its one intent is the road where it ends.

    Without queries the targets are dealt out: the first to all three, with their dimensions.
    """
    trip = trip or phased_trip(step(["Rua A"]), step(["Rua B"]), step(["Rua C"]))
    last = len(trip.phases) - 1
    end = target("1.1", "road", phases=[last], names=trip.phases[last].road_names[-1:] or ["Rua Z"])
    kept = list(targets) or [end]
    plain = QueryPlan(dimensions=[int(kept[0].scenario[0])], targets=[kept[0]])
    intents = Intents(
        drawn=list(drawn) if drawn is not None else [each.scenario for each in kept],
        scenarios=[each.scenario for each in kept],
        targets=kept,
        persona=persona,
        styles=list(styles),
        queries=list(queries) or [plain] * 3,
        waypoint=waypoint,
        street=street,
        time_context=time_context,
    )
    return PlannedTrip(
        trip_id=trip.trip_id,
        meta=trip.meta,
        phases=trip.phases,
        places=list(places),
        intents=intents,
    )
