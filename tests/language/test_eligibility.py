"""A scenario is eligible when the trip's own evidence supports it, and only then."""

import pytest
from hypothesis import given, settings

from pipeline.language.areas import CityAreas
from pipeline.language.eligibility import (
    day_and_hour,
    evidence_of,
    main_heading,
    time_words,
    turns_of,
)
from pipeline.language.shown import shown_trip
from pipeline.language.vocabulary import SCENARIOS, vocabulary
from tests.language.said import AREAS, evidence, told
from tests.language.towns import SETTINGS, block, town
from tests.language.trips import area, cell_of, phased_trip, place, planned_trip, step, target

WORDS = vocabulary()
PLAIN = phased_trip(step(["Rua A"]), step(["Rua B"]), step(["Rua C"]))


def about(found, scenario):
    """Return kind and what each target of a scenario is about."""
    return [
        (each.kind, *each.names, *([each.feature] if each.feature else []))
        for each in found.targets.get(scenario, [])
    ]


# ---- 1: destination ------------------------------------------------------------------------------


def test_the_road_of_the_end_and_named_places_near_it_are_exact_anchors():
    near, far = place(2, "Café", distance_m=59.0), place(2, "Hotel", distance_m=61.0)
    found = evidence(PLAIN, places=[near, far, place(1, "Kiosk")])
    assert found.targets["1.1"] == [
        target("1.1", "place", phases=[2], names=["Café"], ids=["2/Café"]),
        target("1.1", "road", phases=[2], names=["Rua C"]),
    ]


def test_the_road_of_the_end_is_where_the_drive_ends_not_the_last_name_met():
    trip = phased_trip(step(["Rua A"]), step(["Rua B", "Rua C"]), end_road="Rua B")
    assert about(evidence(trip), "1.1") == [("road", "Rua B")]


@pytest.mark.parametrize("end_class", ["motorway", "motorway_link"])
def test_nobody_gets_out_on_a_motorway_or_its_ramp(end_class):
    trip = phased_trip(step(["Rua A"]), step(["A1"]), end_class=end_class)
    assert "1.1" not in evidence(trip).targets
    assert shown_trip(planned_trip(trip)).meta.end_road is None
    assert about(evidence(phased_trip(step(["Rua A"]), step(["A1"]))), "1.1") == [("road", "A1")]


def test_a_trip_that_ends_on_its_main_road_is_not_told_to_stay_on_it():
    trip = phased_trip(step(["Rua A"]), step(["Rua A"]), step(["Rua A"]))
    assert about(evidence(trip, drive={"main_road": "Rua A", "main_share": 1.0}), "3.2") == [
        ("heading", "north")
    ]


def test_without_a_name_at_the_end_there_is_no_exact_anchor():
    assert "1.1" not in evidence(phased_trip(step(["Rua A"]), step())).targets


def test_zones_people_ask_for_and_kinds_of_places_are_fuzzy_destinations():
    end = area("GREEN/PARK", natural=["forest"], facilities=["bar", "memorial"])
    found = evidence(phased_trip(step(), step(desc=end)), places=[place(1, "X", category="bank")])
    assert about(found, "1.2") == [
        ("zone", "green"), ("zone", "woods"), ("facility", "bar"), ("facility", "bank")
    ]  # fmt: skip


def test_built_up_streets_alone_are_no_destination():
    trip = phased_trip(step(desc=area("GREEN/PARK")), step(desc=area("URBAN/INLAND")))
    assert not {"1.1", "1.2"} & set(evidence(trip).targets)


# ---- 2: waypoints --------------------------------------------------------------------------------


def test_roads_of_the_middle_follow_each_other_in_runs_of_two_to_four():
    middle = [step([name]) for name in ("B", "C", "D", "E", "F")]
    found = evidence(phased_trip(step(["A"]), *middle, step(["Z"])))
    runs = [each.names for each in found.targets["2.1"]]
    assert runs == [
        *(["B", "C"], ["C", "D"], ["D", "E"], ["E", "F"]),
        *(["B", "C", "D"], ["C", "D", "E"], ["D", "E", "F"]),
        *(["B", "C", "D", "E"], ["C", "D", "E", "F"]),
    ]
    assert found.targets["2.1"][0].phases == [1, 2]


def test_the_road_of_the_destination_is_no_waypoint_even_where_the_middle_has_it_too():
    trip = phased_trip(step(["A"]), step(["B", "Z"]), step(["C"]), step(["Z"]))
    assert about(evidence(trip), "2.1") == [("roads", "B", "C")]
    two = phased_trip(step(["A"]), step(["B", "Z"]), step(["Z"]))
    assert "2.1" not in evidence(two).targets


def test_a_road_that_gives_its_name_to_the_place_of_the_destination_is_no_waypoint():
    trip = phased_trip(step(), step(["B", "C"]), step())
    assert "2.1" in evidence(trip).targets
    assert "2.1" not in evidence(trip, places=[place(2, "C")]).targets


def test_a_road_driven_twice_is_named_where_it_is_met_first():
    trip = phased_trip(step(), step(["B"]), step(["C"]), step(["B"]), step(["D"]), step())
    found = evidence(trip)
    assert found.middle_roads == ["B", "C", "D"]
    assert [each.phases for each in found.targets["2.1"]] == [[1, 2], [2, 4], [1, 2, 4]]


def test_roads_of_the_first_and_last_phase_alone_are_no_waypoints():
    assert "2.1" not in evidence(phased_trip(step(["A", "B"]), step(), step(["C", "D"]))).targets


def test_a_stop_is_a_kind_of_place_in_a_middle_phase_that_is_worth_one():
    shops = area(facilities=["cafe", "hotel"])
    trip = phased_trip(step(desc=shops), step(desc=shops), step(desc=shops))
    found = evidence(trip, places=[place(1, "Galp", category="gas station")])
    assert found.targets["2.2"] == [
        target("2.2", "facility", phases=[1], feature="cafe"),
        target("2.2", "facility", phases=[1], feature="fuel"),
    ]


def test_a_zone_is_crossed_when_it_is_entered_and_left_on_the_way():
    green, urban = area("GREEN/PARK"), area()
    trip = phased_trip(*(step(desc=d) for d in (urban, green, green, urban, green)))
    assert evidence(trip).targets["2.3"] == [
        target("2.3", "zone", phases=[3], feature="urban"),
        target("2.3", "zone", phases=[1, 2], feature="green"),
    ]


def test_a_district_is_crossed_like_a_zone_and_never_that_of_the_end():
    names = ["Foz", "Baixa", "Baixa", "Bonfim", "Foz"]
    trip = phased_trip(*(step(desc=f"District: {name}") for name in names))
    assert about(evidence(trip), "2.3") == [("district", "Baixa"), ("district", "Bonfim")]
    assert evidence(trip).targets["2.3"][0].phases == [1, 2]


def test_a_trip_within_one_zone_and_district_crosses_none():
    desc = area("GREEN/PARK", district="Foz")
    assert "2.3" not in evidence(phased_trip(*(step(desc=desc) for _ in range(4)))).targets


# ---- 3: route preferences ------------------------------------------------------------------------


def test_a_zone_with_half_of_the_middle_is_preferred():
    green = step(desc=area("GREEN/PARK"), length_m=100)
    for other, liked in ((100, True), (101, False)):
        trip = phased_trip(step(), green, step(desc=area(), length_m=other), step())
        prefer = [t for t in evidence(trip).targets["3.1"] if t.polarity == "prefer"]
        assert [(t.feature, t.phases) for t in prefer] == ([("green", [1])] if liked else [])


def test_the_first_and_last_phase_do_not_count_for_a_preference():
    green = step(desc=area("GREEN/PARK"), length_m=1000)
    trip = phased_trip(green, step(desc=area()), green)
    assert all(t.polarity == "avoid" for t in evidence(trip).targets.get("3.1", []))


def test_a_zone_of_the_city_that_the_trip_never_touches_is_avoided():
    cells = [block(), block(geo_tag="GREEN/PARK"), block(geo_tag="WATERFRONT")]
    areas = CityAreas(town(cells).cells, WORDS)
    trip = phased_trip(step(cell=cell_of(0)), step(cell=cell_of(1)), step(cell=cell_of(0)))
    found = evidence(trip, areas=areas).targets["3.1"]
    assert found == [target("3.1", "zone", feature="waterside", polarity="avoid")]


def test_a_zone_that_only_a_segment_passes_is_not_avoided():
    areas = CityAreas(town([block(), block(geo_tag="WATERFRONT")]).cells, WORDS)
    trip = phased_trip(step(cell=cell_of(0)), step(cell=cell_of(0)))
    assert "3.1" in evidence(trip, areas=areas).targets
    assert "3.1" not in evidence(trip, areas=areas, drive={"cells": [cell_of(1)]}).targets


def test_a_trip_with_half_of_its_length_on_one_road_stays_on_it():
    trip = phased_trip(step(["A"]), step(["B"]), step(["B"]), step(["C"]))
    found = evidence(trip, drive={"main_road": "B", "main_share": 0.5})
    assert found.targets["3.2"] == [target("3.2", "stay_on", phases=[1, 2], names=["B"])]


def test_a_straight_trip_without_a_main_road_keeps_its_heading():
    trip = phased_trip(*(step(heading_deg=85 + i) for i in range(3)))
    found = evidence(trip, drive={"main_road": "B", "main_share": 0.49})
    assert found.targets["3.2"] == [target("3.2", "heading", feature="east")]


def test_a_winding_trip_is_told_by_its_turns():
    turning = [step(heading_deg=90.0 * (i % 2 * 2), length_m=250) for i in range(4)]
    assert about(evidence(phased_trip(*turning)), "3.2") == [("turns", "many_turns")]
    loop = [step(heading_deg=h, length_m=1000) for h in (0.0, 0.0, 180.0, 180.0)]
    assert about(evidence(phased_trip(*loop)), "3.2") == [("turns", "few_turns")]


def test_a_trip_without_length_still_has_a_course():
    assert about(evidence(phased_trip(step(length_m=0), step(length_m=0))), "3.2") == [
        ("turns", "few_turns")
    ]


def test_a_preference_and_a_course_are_weighed_together():
    green = step(["A"], area("GREEN/PARK"))
    trip = phased_trip(step(["A"]), green, green, step(["B"]))
    by_heading = evidence(trip).targets["3.3"]
    assert by_heading == [
        target("3.3", "zone_and_heading", phases=[1, 2], feature="green+north", polarity="prefer")
    ]
    by_road = evidence(trip, drive={"main_road": "A", "main_share": 0.8}).targets["3.3"]
    assert by_road == [
        target("3.3", "zone_and_road", phases=[0, 1, 2], names=["A"], feature="green",
               polarity="prefer")
    ]  # fmt: skip


def test_a_preference_is_weighed_with_turns_where_nothing_else_tells_the_course():
    winding = [step(desc=area("GREEN/PARK"), heading_deg=180.0 * (i % 2)) for i in range(4)]
    assert evidence(phased_trip(*winding)).targets["3.3"] == [
        target("3.3", "zone_and_turns", phases=[1, 2], feature="green+many_turns",
               polarity="prefer")
    ]  # fmt: skip


def test_a_course_without_a_preference_gives_no_orthogonal_scenario():
    assert "3.3" not in evidence(PLAIN).targets


@pytest.mark.parametrize(
    ("headings", "name"),
    [([0], "north"), ([22.4], "north"), ([22.6], "northeast"), ([350, 10], "north"),
     ([180], "south"), ([270, 268], "west"), ([337.6], "north"), ([0, 180], None)],
)  # fmt: skip
def test_the_heading_is_a_mean_on_the_circle(headings, name):
    trip = phased_trip(step(heading_deg=headings[0]), *(step(heading_deg=h) for h in headings))
    phases = trip.phases[1:]
    assert main_heading(phases, 0.7) == name


def test_a_turn_is_a_change_of_heading_the_short_way_round():
    trip = phased_trip(*(step(heading_deg=h) for h in (350, 10, 70, 69, 200)))
    assert turns_of(trip.phases, 60) == 2


# ---- 4: time and pace ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "day", "hour"),
    [("Saturday, Jun 14, 2014 at 4:11 AM", "Saturday", 4),
     ("Monday, Jul 1, 2013 at 12:05 AM", "Monday", 0),
     ("Monday, Jul 1, 2013 at 12:05 PM", "Monday", 12),
     ("Sunday, Jul 7, 2013 at 11:59 PM", "Sunday", 23)],
)  # fmt: skip
def test_day_and_hour_are_read_from_the_start_in_words(words, day, hour):
    assert day_and_hour(words) == (day, hour)


def test_the_clock_tells_the_kind_of_day_and_its_part():
    saturday = phased_trip(step(), step(), start_time="Saturday, Jun 14, 2014 at 6:00 PM")
    assert about(evidence(saturday), "4.1") == [("clock", "weekend+evening")]
    assert about(evidence(PLAIN), "4.1") == [("clock", "weekday+early_morning")]
    assert time_words(saturday.meta, WORDS) == "Saturday evening"


def test_seconds_that_begin_at_0_are_no_clock():
    trip = phased_trip(step(), step(), t_start_s=3600.0)
    assert "4.1" not in evidence(trip).targets
    assert time_words(trip.meta, WORDS) is None


@pytest.mark.parametrize(
    ("length_m", "pace"), [(2499, "slow"), (2500, "steady"), (4999, "steady"), (5000, "brisk")]
)
def test_the_pace_is_the_mean_speed(length_m, pace):
    """In 600 s, 2500 m make 15 km/h and 5000 m 30 km/h."""
    trip = phased_trip(step(length_m=length_m), step(length_m=0), duration_s=600.0)
    assert about(evidence(trip), "4.2") == [("pace", pace)]


def test_a_trip_of_under_a_minute_or_without_length_has_no_pace():
    assert "4.2" not in evidence(phased_trip(step(), step(), duration_s=59.9)).targets
    still = phased_trip(step(length_m=0), step(length_m=0), duration_s=600.0)
    assert "4.2" not in evidence(still).targets


# ---- all ten -------------------------------------------------------------------------------------


def test_a_trip_of_400_phases_and_as_many_roads_is_taken_as_any_other():
    steps = [step([f"Rua {i}"], area(facilities=["cafe"])) for i in range(400)]
    found = evidence(phased_trip(*steps))
    assert len(found.middle_roads) == 398
    assert len(found.targets["2.1"]) == 397 + 396 + 395
    assert len(found.targets["2.2"]) == 398


def test_a_trip_that_shows_nothing_has_only_its_course_and_time():
    areas = CityAreas(town([]).cells, WORDS)
    found = evidence(phased_trip(step(), step(), step()), areas=areas)
    assert set(found.targets) == {"3.2", "4.1", "4.2"}
    assert found.middle_roads == []


def look(trip, places, drive):
    return evidence_of(trip, places=places, drive=drive, areas=AREAS, settings=SETTINGS)


@settings(deadline=None)
@given(told())
def test_every_name_of_a_target_occurs_in_the_evidence_of_its_phases(made_up):
    trip, places, _ = made_up
    for scenario, targets in look(*made_up).targets.items():
        assert targets
        for each in targets:
            assert each.scenario == scenario
            shown = [trip.phases[p] for p in each.phases]
            named = {name for phase in shown for name in phase.road_names}
            named |= {f"{p.desc.rpartition('District: ')[2]}" for p in shown}
            ids = {(p.name, p.id) for p in places if p.phase in each.phases}
            if each.ids:
                assert set(zip(each.names, each.ids, strict=True)) <= ids
            else:
                assert set(each.names) <= named


@settings(deadline=None)
@given(told())
def test_features_are_words_of_the_vocabulary_and_zones_hold_where_they_are_said(made_up):
    trip, _, _ = made_up
    for targets in look(*made_up).targets.values():
        for each in targets:
            assert bool(each.feature) == bool(WORDS.feature_words(each.feature))
            zones = [AREAS.facts(trip.phases[p].desc).zones for p in each.phases]
            if each.kind == "zone" and each.polarity != "avoid":
                assert all(each.feature in there for there in zones)
            if each.polarity == "avoid":
                assert all(each.feature not in AREAS.facts(p.desc).zones for p in trip.phases)


@settings(deadline=None)
@given(told())
def test_destinations_lie_in_the_last_phase_and_waypoints_in_the_middle(made_up):
    last = len(made_up[0].phases) - 1
    for scenario, targets in look(*made_up).targets.items():
        assert scenario in SCENARIOS
        for each in targets:
            if scenario[0] == "1":
                assert each.phases == [last]
            if scenario[0] == "2":
                assert each.phases
                assert all(0 < p < last for p in each.phases)
                assert each.phases == sorted(each.phases)


@settings(deadline=None)
@given(told())
def test_roads_in_order_differ_from_each_other_and_from_every_name_of_the_destination(made_up):
    found = look(*made_up)
    ends = {name for each in found.targets.get("1.1", []) for name in each.names}
    for each in found.targets.get("2.1", []):
        assert 2 <= len(each.names) == len(set(each.names)) <= 4
        assert len(each.phases) == len(each.names)
        assert not ends & set(each.names)
    assert not ends & set(found.middle_roads)
