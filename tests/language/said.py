"""Evidence of trips in memory, and trips that hypothesis makes up."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from pipeline.language.areas import CityAreas
from pipeline.language.eligibility import Evidence, evidence_of
from pipeline.language.route import Drive
from pipeline.language.vocabulary import vocabulary
from pipeline.records import PhasedTrip, Place
from tests.language.towns import SETTINGS, block, town
from tests.language.trips import area, phased_trip, place, step

# A city that has every zone, in cells no trip of these tests passes.
ALL_ZONES = [
    block(geo_tag="URBAN/INLAND"), block(geo_tag="WATERFRONT"), block(geo_tag="GREEN/PARK"),
    block(geo_tag="COASTAL/BEACH", natural=["farmland", "forest"]),
    block(commercial=["dining", "entertainment", "services", "shopping"]),
]  # fmt: skip
AREAS = CityAreas(town(ALL_ZONES).cells, vocabulary())


def drive_of(**changes: Any) -> Drive:
    """Return what the segments would tell of a trip: no main road, no cell."""
    return Drive(None, 0.0, ())._replace(**changes)


def evidence(
    trip: PhasedTrip,
    *,
    places: list[Place] | None = None,
    drive: dict[str, Any] | None = None,
    areas: CityAreas = AREAS,
    **settings: Any,
) -> Evidence:
    """Find out what may be said of a trip, with settings of the tests unless told."""
    return evidence_of(
        trip,
        places=places or [],
        drive=drive_of(**(drive or {})),
        areas=areas,
        settings=msgspec.structs.replace(SETTINGS, **settings),
    )


roads = st.lists(st.sampled_from(["Rua A", "Rua B", "Rua C", "Rua D", "Rua E"]), max_size=3,
                 unique=True)  # fmt: skip
descs = st.one_of(
    st.just(""),
    st.builds(
        area,
        st.sampled_from(["URBAN/INLAND", "WATERFRONT", "GREEN/PARK", "COASTAL/BEACH"]),
        natural=st.lists(st.sampled_from(["park", "forest", "water", "tree"]), max_size=2,
                         unique=True),
        commercial=st.lists(st.sampled_from(["dining", "services", "shopping"]), max_size=3,
                            unique=True),
        facilities=st.lists(st.sampled_from(["cafe", "bank", "hotel", "memorial"]), max_size=2,
                            unique=True),
        district=st.sampled_from([None, "Baixa", "Foz"]),
    ),
)  # fmt: skip
steps = st.builds(
    step,
    roads,
    descs,
    length_m=st.floats(0, 500),
    heading_deg=st.floats(0, 359.9),
    heading_strength=st.floats(0, 1),
)


@st.composite
def told(draw: st.DrawFn) -> tuple[PhasedTrip, list[Place], Drive]:
    """Make up a trip, its places and its drive."""
    said = draw(st.lists(steps, min_size=2, max_size=8))
    trip = phased_trip(
        *said,
        trip_id=draw(st.text("abc123", min_size=1, max_size=6)),
        t_start_s=draw(st.sampled_from([0.0, 1402974660.0])),
        duration_s=draw(st.sampled_from([0.0, 59.0, 60.0, 600.0])),
    )
    number = st.integers(0, len(said) - 1)
    names = st.sampled_from(["Café Central", "Hotel Foz", "Rua A"])
    spots = draw(st.lists(st.tuples(number, names, st.floats(0, 100)), max_size=6, unique_by=_key))
    places = [place(p, name, distance_m=distance) for p, name, distance in spots]
    named = [name for phase in trip.phases for name in phase.road_names]
    main = draw(st.sampled_from(named)) if named else None
    share = draw(st.floats(0, 1)) if named else 0.0
    return trip, places, drive_of(main_road=main, main_share=share)


def _key(spot: tuple[int, str, float]) -> tuple[int, str]:
    return spot[:2]
