"""Planned trips by the thousand for the tests of the template engine, every name its own.

trip_number(17)  ->  a PlannedTrip with 5 phases, roads "Ostraat 0", "Midgata 1-0", "Endevej 4", ...
"""

import random

from pipeline.language.vocabulary import HEADINGS, PACES, TURNS, vocabulary
from pipeline.records import PlannedTrip, QueryPlan, StylePlan, Target
from tests.language.trips import area, phased_trip, place, planned_trip, step, target

WORDS = vocabulary()
TAGS = ("URBAN/INLAND", "GREEN/PARK", "COASTAL/BEACH", "WATERFRONT")
PARTS = tuple(part.code for part in WORDS.parts_of_day)
TIMES = (
    "Tuesday, Jun 17, 2014 at 4:11 AM",
    "Saturday, Jun 14, 2014 at 11:58 PM",
    "Friday, Jan 3, 2025 at 12:30 PM",
)


def road(phase: int, number: int = 0) -> str:
    """Return the name of a road of a phase; its first letters tell no role."""
    return f"Gata {chr(65 + number)}{phase}x"


def spot(phase: int) -> str:
    return f"Bistrot Q{phase}z"


def district(phase: int) -> str:
    return f"Kvarter K{phase // 2}y"


def trip_number(number: int, *, phases: int | None = None) -> PlannedTrip:
    """Build a trip; the same number gives the same trip."""
    pick = random.Random(number)
    count = phases or pick.randint(2, 12)
    last = count - 1
    steps = [
        step(
            [road(p, n) for n in range(pick.choice((0, 1, 1, 2)))] if 0 < p < last else [road(p)],
            area(
                pick.choice(TAGS),
                natural=pick.sample(["park", "tree", "water", "forest"], pick.randint(0, 2)),
                commercial=pick.sample(["dining", "entertainment", "shopping"], pick.randint(0, 3)),
                district=district(p) if pick.random() < 0.7 else None,
            ),
            heading_deg=pick.choice((0.0, 44.0, 100.0, 271.0)),
            heading_strength=pick.choice((1.0, 0.9, 0.3)),
            length_m=pick.choice((20.0, 150.0, 400.0)),
        )
        for p in range(count)
    ]
    trip = phased_trip(
        *steps,
        trip_id=f"trip-{number}",
        start_time=pick.choice(TIMES),
        duration_s=float(pick.choice((20, 64, 495, 3900))),
    )
    options = _targets(pick, [phase.road_names for phase in trip.phases])
    ends = [each for each in options if each.scenario[0] == "1"]
    others = [each for each in options if each.scenario[0] != "1"]
    by_code = {each.scenario: each for each in pick.sample(others, len(others))}
    chosen = [by_code[code] for code in pick.sample(sorted(by_code), pick.randint(0, 4))]
    return planned_trip(
        trip,
        places=[place(p, spot(p)) for p in (0, last)],
        targets=[pick.choice(ends), *chosen],
        persona=pick.choice(WORDS.personas).code,
        styles=[
            StylePlan(
                style=style.code,
                form=pick.choice(style.forms).code,
                length=pick.choice(style.lengths).code,
            )
            for style in WORDS.styles
        ],
        queries=[
            QueryPlan(dimensions=sorted({int(t.scenario[0]) for t in some}), targets=some)
            for some in (pick.sample(options, pick.randint(1, 2)) for _ in range(3))
        ],
        street=pick.choice((None, *trip.phases[count // 2].road_names)) if count > 2 else None,
        time_context=pick.choice((None, "Tuesday morning")),
    )


def _targets(pick: random.Random, roads: list[list[str]]) -> list[Target]:
    """Return one target of each kind that the trip can have."""
    last = len(roads) - 1
    zones = [zone.code for zone in WORDS.zones]
    facilities = [facility.code for facility in WORDS.facilities]
    found = [
        target("1.1", "place", phases=[last], names=[spot(last)], ids=[f"id-{last}"]),
        target("1.1", "road", phases=[last], names=[road(last)]),
        target("1.2", "zone", phases=[last], feature=pick.choice(zones)),
        target("1.2", "facility", phases=[last], feature=pick.choice(facilities)),
        target("3.1", "zone", phases=[1], feature=pick.choice(zones), polarity="prefer"),
        target("3.1", "zone", feature=pick.choice(zones), polarity="avoid"),
        target("3.2", "heading", feature=pick.choice(HEADINGS)),
        target("3.2", "turns", feature=pick.choice(TURNS)),
        target(
            "3.3",
            "zone_and_heading",
            phases=[1],
            feature=f"{pick.choice(zones)}+{pick.choice(HEADINGS)}",
            polarity="prefer",
        ),
        target(
            "3.3",
            "zone_and_turns",
            phases=[1],
            feature=f"{pick.choice(zones)}+{pick.choice(TURNS)}",
            polarity="prefer",
        ),
        target(
            "4.1", "clock", feature=f"{pick.choice(('weekday', 'weekend'))}+{pick.choice(PARTS)}"
        ),
        target("4.2", "pace", feature=pick.choice(PACES)),
    ]
    middle = [(p, name) for p in range(1, last) for name in roads[p]]
    if last > 1:
        found += [
            target("2.2", "facility", phases=[1], feature=pick.choice(facilities)),
            target("2.3", "zone", phases=[1], feature=pick.choice(zones)),
            target("2.3", "district", phases=[1], names=[district(1)]),
        ]
    if middle:
        held, on_it = middle[0][1], [middle[0][0]]
        zone = pick.choice(zones)
        found += [
            target("3.2", "stay_on", phases=on_it, names=[held]),
            target("3.3", "zone_and_road", phases=on_it, names=[held], feature=zone,
                   polarity="prefer"),
        ]  # fmt: skip
    if len(middle) > 1:
        some = middle[: pick.randint(2, 4)]
        found.append(
            target("2.1", "roads", phases=[p for p, _ in some], names=[name for _, name in some])
        )
    return found
