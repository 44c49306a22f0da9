"""The draws of plan_intents: what the rule promises, for any trip, order and shard."""

import csv
from collections import Counter
from pathlib import Path

import msgspec
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import tables
from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ContractError
from pipeline.language.eligibility import Evidence
from pipeline.language.intent_report import IntentCounts
from pipeline.language.intent_settings import IntentsSettings
from pipeline.language.intents import CityPlanner, IntentReason, pick_target, plan_intents, run
from pipeline.language.vocabulary import SCENARIOS, vocabulary
from pipeline.records import PlannedTrip
from pipeline.runner import stage_named
from pipeline.schemas import check_record
from pipeline.store import StageIO
from pipeline.tables import read_table, write_table
from tests.language.said import evidence, told
from tests.language.test_eligibility import look
from tests.language.towns import SETTINGS, block, drive, matched, phased, poi, town
from tests.language.trips import PLAIN_STYLES, area, phased_trip, place, planned_trip, step, target

WORDS = vocabulary()
STAGE = stage_named("plan_intents")


def with_settings(**changes):
    return msgspec.structs.replace(SETTINGS, **changes)


def plan(trip, found, *, seed=7, **changes):
    return plan_intents(trip, found, words=WORDS, settings=with_settings(**changes), seed=seed)


def rich_trip(trip_id="t1"):
    """Return a trip for which all ten scenarios are eligible, and its evidence."""
    green = area("GREEN/PARK", facilities=["cafe"], district="Foz")
    trip = phased_trip(
        step(["A"], area(district="Baixa")),
        step(["B"], green),
        step(["C"], green),
        step(["D"], area("GREEN/PARK", facilities=["bar"], district="Baixa")),
        trip_id=trip_id,
    )
    found = evidence(trip, places=[place(3, "Café")])
    assert set(found.targets) == set(SCENARIOS)
    return trip, found


# ---- the rule ------------------------------------------------------------------------------------


@settings(deadline=None)
@given(told(), st.integers(0, 2**63 - 1))
def test_a_plan_has_one_destination_first_and_only_eligible_scenarios_each_once(made_up, seed):
    trip = made_up[0]
    found = look(*made_up)
    intents = plan(trip, found, seed=seed)
    destinations = {"1.1", "1.2"} & set(found.targets)
    assert (intents is None) == (not destinations)
    if intents is None:
        return
    assert intents.scenarios[0] in destinations
    assert all(code[0] in "234" for code in intents.scenarios[1:])
    assert len(set(intents.scenarios)) == len(intents.scenarios) <= len(intents.drawn)
    for code, each in zip(intents.scenarios, intents.targets, strict=True):
        assert each in found.targets[code]
    row = PlannedTrip(trip.trip_id, trip.meta, trip.phases, made_up[1], intents)
    check_record("planned_trip", msgspec.to_builtins(row), where="drawn")


@settings(deadline=None)
@given(told())
def test_kept_is_drawn_when_all_drawn_are_eligible_and_shrinks_only_for_want_of_evidence(made_up):
    found = look(*made_up)
    intents = plan(made_up[0], found)
    if intents is None:
        return
    if set(intents.drawn) <= set(found.targets):
        assert intents.scenarios == intents.drawn
    if len(intents.scenarios) < len(intents.drawn):
        assert set(intents.scenarios[1:]) == {code for code in found.targets if code[0] != "1"}


@settings(deadline=None)
@given(told(), st.sampled_from(SCENARIOS))
def test_evidence_that_goes_missing_changes_only_what_it_was_about(made_up, gone):
    trip, found = made_up[0], look(*made_up)
    less = Evidence({k: v for k, v in found.targets.items() if k != gone}, found.middle_roads)
    before, after = plan(trip, found), plan(trip, less)
    if before is None or after is None:
        return
    assert (after.drawn, after.persona, after.styles) == (
        before.drawn, before.persona, before.styles,
    )  # fmt: skip
    stayed = [code for code in before.scenarios if code != gone]
    assert [code for code in after.scenarios if code in stayed] == stayed
    if gone not in before.scenarios:
        assert after.scenarios == before.scenarios
        assert after.targets == before.targets


def test_a_single_intent_is_a_destination():
    for i in range(50):
        trip, found = rich_trip(f"t{i}")
        intents = plan(trip, found, counts=[1.0, 0, 0, 0, 0])
        assert len(intents.drawn) == 1
        assert intents.drawn[0][0] == "1"


def test_an_ineligible_scenario_gives_way_to_the_next_of_its_order():
    trip, found = rich_trip()
    everything = plan(trip, found, counts=[0, 0, 0, 0, 0, 0, 0, 0, 1])
    order = everything.scenarios[1:]
    less = Evidence({k: v for k, v in found.targets.items() if k != order[0]}, found.middle_roads)
    intents = plan(trip, less, counts=[0, 0, 1, 0, 0])
    assert intents.drawn[1:] == order[:2]
    assert intents.scenarios[1:] == order[1:3]


def test_a_trip_without_a_destination_has_no_plan():
    trip = phased_trip(step(["A"]), step(["B"]), step())
    assert plan(trip, evidence(trip)) is None


def test_numbers_of_scenarios_and_scenarios_are_drawn_as_often_as_the_paper_says():
    """Counts lie within four standard deviations of what the odds expect in 2000 trips."""
    drawn = [plan(*rich_trip(f"t{i}")).drawn for i in range(2000)]
    counts = Counter(len(codes) for codes in drawn)
    for k, odds in enumerate(SETTINGS.counts, start=1):
        spread = (2000 * odds * (1 - odds)) ** 0.5
        assert counts[k] == pytest.approx(2000 * odds, abs=4 * spread)
    others = Counter(code for codes in drawn for code in codes[1:])
    expected = sum(others.values()) / 8
    assert all(n == pytest.approx(expected, abs=4 * expected**0.5) for n in others.values())
    assert len(others) == 8


def test_a_weight_of_zero_leaves_a_scenario_out():
    weights = dict.fromkeys(SCENARIOS, 1.0) | {"1.2": 0.0, "3.3": 0.0}
    plans = [plan(*rich_trip(f"t{i}"), weights=weights) for i in range(100)]
    drawn = {code for each in plans for code in (*each.drawn, *each.scenarios)}
    assert drawn == set(SCENARIOS) - {"1.2", "3.3"}


def test_personas_forms_and_lengths_are_all_drawn_about_as_often():
    plans = [plan(*rich_trip(f"t{i}")) for i in range(1600)]
    personas = Counter(each.persona for each in plans)
    assert set(personas) == {persona.code for persona in WORDS.personas}
    assert all(n == pytest.approx(200, abs=4 * 13.3) for n in personas.values())
    for index, style in enumerate(WORDS.styles):
        assert {each.styles[index].style for each in plans} == {style.code}
        assert {each.styles[index].form for each in plans} == {f.code for f in style.forms}
        assert {each.styles[index].length for each in plans} == {f.code for f in style.lengths}


def test_a_rare_kind_of_place_is_drawn_as_often_as_a_common_one():
    cafes = [target("2.2", "facility", phases=[p], feature="cafe") for p in range(1, 10)]
    bank = target("2.2", "facility", phases=[4], feature="bank")
    drawn = Counter(pick_target([*cafes, bank], (i + 0.5) / 900).feature for i in range(900))
    assert drawn == {"cafe": 450, "bank": 450}


@given(st.floats(0, 1, exclude_max=True))
def test_a_picked_target_is_one_of_the_options(number):
    options = [
        target("1.1", "place", names=["A"], ids=["a"]), target("1.1", "place", names=["B"]),
        target("1.1", "road", names=["C"]),
    ]  # fmt: skip
    assert pick_target(options, number) in options


# ---- queries and constraints ---------------------------------------------------------------------


@settings(deadline=None)
@given(told(), st.integers(0, 1000))
def test_three_queries_cover_each_dimension_with_evidence_and_have_one_or_two(made_up, seed):
    found = look(*made_up)
    intents = plan(made_up[0], found, seed=seed)
    if intents is None:
        return
    have = {int(code[0]) for code in found.targets}
    assert len(intents.queries) == 3
    assert {d for query in intents.queries for d in query.dimensions} == have
    for query in intents.queries:
        assert query.dimensions == sorted(set(query.dimensions))
        assert 1 <= len(query.dimensions) <= 2
        for dimension, each in zip(query.dimensions, query.targets, strict=True):
            assert each.scenario[0] == str(dimension)
            assert each in found.targets[each.scenario]


def test_with_four_dimensions_each_is_asked_for_once_and_any_query_may_have_two():
    plans = [plan(*rich_trip(f"t{i}")) for i in range(300)]
    for each in plans:
        assert sorted(d for query in each.queries for d in query.dimensions) == [1, 2, 3, 4]
    deals = Counter(tuple(len(query.dimensions) for query in each.queries) for each in plans)
    assert set(deals) == {(2, 1, 1), (1, 2, 1), (1, 1, 2)}


def test_the_waypoint_is_the_target_of_the_first_kept_scenario_of_dimension_2():
    for i in range(60):
        intents = plan(*rich_trip(f"t{i}"))
        of_two = [each for each in intents.targets if each.scenario[0] == "2"]
        assert intents.waypoint == (of_two[0] if of_two else None)


def test_a_street_is_a_road_of_the_middle_named_in_its_share_of_trips():
    plans = [plan(*rich_trip(f"t{i}")) for i in range(1000)]
    streets = Counter(each.street for each in plans)
    assert set(streets) == {None, "B", "C"}
    assert 1000 - streets[None] == pytest.approx(300, abs=4 * 14.5)
    assert plan(*rich_trip(), street_share=0.0).street is None
    trip = phased_trip(step(["A"]), step(), step(["B"]))
    assert plan(trip, evidence(trip), street_share=1.0).street is None


def test_the_time_is_told_with_scenario_4_1_and_else_in_its_share_of_trips():
    plans = [plan(*rich_trip(f"t{i}")) for i in range(1000)]
    with_clock = [each for each in plans if "4.1" in each.scenarios]
    others = [each.time_context for each in plans if "4.1" not in each.scenarios]
    assert {each.time_context for each in with_clock} == {"Tuesday early morning"}
    told_anyway = sum(words is not None for words in others)
    assert told_anyway == pytest.approx(0.2 * len(others), abs=4 * (0.16 * len(others)) ** 0.5)


def test_a_trip_without_a_clock_tells_no_time():
    trip = phased_trip(step(["A"]), step(["B"]), t_start_s=0.0)
    assert plan(trip, evidence(trip), time_share=1.0).time_context is None


# ---- many trips ----------------------------------------------------------------------------------

BLOCKS = [
    block(
        f"Rua {i // 2}",
        geo_tag="GREEN/PARK" if i in {3, 4} else "URBAN/INLAND",
        facilities=["cafe"] if i % 2 else [],
        district="Foz" if i < 5 else "Baixa",
        pois=[poi(f"Café {i}", 100 * i + 60, 20)],
    )
    for i in range(10)
]
TOWN = town(BLOCKS)
DRIVES = matched([drive(f"t{i}", list(range(i % 4, 6 + i % 5))) for i in range(30)])


def planner(seed=7, **changes):
    return CityPlanner(*TOWN, settings=with_settings(**changes), seed=seed)


@settings(deadline=None, max_examples=10)
@given(st.permutations(range(30)))
def test_the_order_of_trips_changes_nothing(order):
    trips = phased(DRIVES, TOWN)
    whole = planner().plan(trips, DRIVES).trips
    shuffled = planner().plan(trips[order], DRIVES).trips
    assert shuffled.sort("trip_id").equals(whole.sort("trip_id"))


@settings(deadline=None, max_examples=10)
@given(st.sets(st.integers(0, 29)))
def test_adding_trips_changes_no_other(some):
    trips = phased(DRIVES, TOWN)
    whole = planner().plan(trips, DRIVES).trips
    few = planner().plan(trips[sorted(some)], DRIVES).trips
    assert few.equals(whole[sorted(some)])


def test_another_seed_draws_anew():
    trips = phased(DRIVES, TOWN)
    assert not planner().plan(trips, DRIVES).trips.equals(planner(8).plan(trips, DRIVES).trips)


def test_a_planned_trip_holds_its_phased_trip_unchanged():
    trips = phased(DRIVES, TOWN)
    planned = planner().plan(trips, DRIVES)
    assert planned.lost == []
    assert planned.trips.select(trips.columns).equals(trips)


# ---- the stage -----------------------------------------------------------------------------------


def prepare(root: Path, shards, on=TOWN):
    """Write the inputs of the stage, one shard of drives after the other."""
    base = root / "data" / "toy"
    for name, frame in zip(("roads", "road_cells", "cells"), on, strict=True):
        write_table(frame, base / f"{name}.parquet", ARTIFACTS[name], shown=name)
    for i, drives in enumerate(shards):
        part = f"part-{i:05d}.parquet"
        write_table(drives, base / "matched" / part, ARTIFACTS["matched"], shown="matched")
        write_table(phased(drives, on), base / "phased" / part, ARTIFACTS["phased"], shown="phased")
    return base


def run_stage(root: Path):
    with StageIO(STAGE, city="toy", root=root) as io:
        run(io, seed=7, intents=SETTINGS)


def files(base: Path):
    return {f.relative_to(base): f.read_bytes() for f in sorted(base.rglob("*")) if f.is_file()}


def test_the_stage_writes_the_same_shards_and_the_same_bytes_again(tmp_path):
    base = prepare(tmp_path, [DRIVES.head(20), DRIVES.tail(10)])
    run_stage(tmp_path)
    first = files(base)
    run_stage(tmp_path)
    assert files(base) == first
    shards = [read_table(f, ARTIFACTS["planned"]) for f in sorted((base / "planned").iterdir())]
    assert [shard["trip_id"].to_list() for shard in shards] == [
        DRIVES["trip_id"].to_list()[:20],
        DRIVES["trip_id"].to_list()[20:],
    ]


@pytest.mark.parametrize("held", [1, 7])
def test_neither_drives_without_phases_nor_how_many_trips_are_held_change_a_byte(
    tmp_path, monkeypatch, held
):
    base = prepare(tmp_path / "whole", [DRIVES.head(20), DRIVES.tail(10)])
    run_stage(tmp_path / "whole")
    before = {name: text for name, text in files(base).items() if name.parts[0] == "planned"}
    base = prepare(tmp_path / "held", [DRIVES.head(20), DRIVES.tail(10)])
    told = base / "matched/part-00000.parquet"
    lost = DRIVES.tail(10).with_columns(trip_id=pl.format("lost-{}", "trip_id"))
    mixed = pl.concat([lost.head(9), DRIVES.head(5), lost.tail(1), DRIVES.head(20).tail(15)])
    write_table(mixed, told, ARTIFACTS["matched"], shown="matched")
    monkeypatch.setattr(tables, "_ROWS_AT_A_TIME", held)
    run_stage(tmp_path / "held")
    after = {name: text for name, text in files(base).items() if name.parts[0] == "planned"}
    assert after == before


def test_a_shard_without_trips_gives_a_shard_without_trips(tmp_path):
    base = prepare(tmp_path, [DRIVES.head(0), DRIVES.head(3)])
    run_stage(tmp_path)
    sizes = [pl.read_parquet(f).height for f in sorted((base / "planned").iterdir())]
    assert sizes == [0, 3]


def test_a_trip_whose_end_has_no_name_and_nothing_to_ask_for_is_rejected(tmp_path):
    on = town([block("Rua A"), block("Rua B"), block()])
    base = prepare(tmp_path, [matched([drive("lost", [0, 1, 2]), drive("told", [2, 1, 0])])], on)
    run_stage(tmp_path)
    rejected = read_table(base / "rejected/plan_intents.parquet", ARTIFACTS["compress_rejected"])
    assert rejected.select("item_id", "stage", "reason").rows() == [
        ("lost", "plan_intents", IntentReason.NO_DESTINATION.value)
    ]
    assert pl.read_parquet(base / "planned/*.parquet")["trip_id"].to_list() == ["told"]
    metrics = msgspec.json.decode((base / "metrics/intents.json").read_bytes())
    assert (metrics["trips"], metrics["planned"]) == (2, 1)
    assert metrics["rejected"] == {"no_destination": 1}


def test_metrics_count_what_the_planned_trips_hold(tmp_path):
    base = prepare(tmp_path, [DRIVES])
    run_stage(tmp_path)
    intents = pl.read_parquet(base / "planned/*.parquet")["intents"].to_list()
    metrics = msgspec.json.decode((base / "metrics/intents.json").read_bytes())
    for row in metrics["scenarios"]:
        assert row["drawn"] == sum(row["scenario"] in each["drawn"] for each in intents)
        assert row["kept"] == sum(row["scenario"] in each["scenarios"] for each in intents)
    for row in metrics["scenarios_per_trip"]:
        assert row["kept"] == sum(len(each["scenarios"]) == row["scenarios"] for each in intents)
    drawn = sum(len(each["drawn"]) for each in intents)
    gone = sum(len(set(each["drawn"]) - set(each["scenarios"])) for each in intents)
    assert metrics["replaced_share"] == round(gone / drawn, 4)
    assert metrics["trips_with_street"] == sum(each["street"] is not None for each in intents)


def test_a_scenario_that_nothing_could_replace_counts_as_replaced_and_as_one_fewer():
    counts = IntentCounts()
    end = target("1.1", "road", phases=[2], names=["Rua C"])
    shrunk = planned_trip(drawn=["1.2", "2.1"], targets=[end]).intents
    whole = planned_trip(drawn=["1.1"], targets=[end]).intents
    counts.add(pl.Series([[], []], dtype=pl.List(pl.Int64)), [shrunk, whole], rejected=1)
    metrics = counts.metrics()
    assert (metrics["trips"], metrics["planned"]) == (3, 2)
    assert metrics["replaced_share"] == round(2 / 3, 4)
    assert metrics["trips_with_fewer_scenarios"] == 1
    assert metrics["target_kinds"] == [{"scenario": "1.1", "kind": "road", "trips": 2}]
    assert metrics["places_per_trip"] == 0
    check_record("intents_metrics", metrics, where="counted")


def test_a_city_without_trips_has_metrics_and_plots_without_shares():
    counts = IntentCounts()
    check_record("intents_metrics", counts.metrics(), where="counted")
    drawn = counts.persona_shares().filter(pl.col("series") == "drawn")
    assert drawn["share"].is_null().all()


def test_shares_of_a_plot_add_up_to_one_for_each_series(tmp_path):
    base = prepare(tmp_path, [DRIVES])
    run_stage(tmp_path)
    for name in ("scenario_counts", "personas"):
        with (base / f"plots/{name}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for series in {row["series"] for row in rows}:
            total = sum(float(row["share"]) for row in rows if row["series"] == series)
            assert total == pytest.approx(1, abs=0.001)
    with (base / "plots/scenarios.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for dimension in "1234":
        shares = [float(r["share"]) for r in rows
                  if r["series"] == "paper" and r["scenario"][0] == dimension]  # fmt: skip
        assert sum(shares) == pytest.approx(1, abs=0.001)


def test_shards_that_do_not_belong_together_are_one_error(tmp_path):
    base = prepare(tmp_path, [DRIVES.head(5), DRIVES.tail(5)])
    (base / "matched/part-00001.parquet").unlink()
    with pytest.raises(ContractError, match="expected as many shards"):
        run_stage(tmp_path)
    assert not (base / "planned").exists()


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slow_kph": 40.0}, "slow_kph: expected at most brisk_kph, 30, found 40"),
        ({"counts": [0.0] * 5}, "counts: expected one above 0"),
        ({"counts": [1.0]}, "length >= 5.*counts"),
        ({"counts": [1.0] * 9}, "length <= 5.*counts"),
        ({"weights": {"1.1": 1.0}}, "weights: expected 1.1, 1.2"),
        ({"weights": dict.fromkeys(SCENARIOS, 1.0) | {"1.1": 0.0, "1.2": 0.0}}, "found neither"),
        ({"weights": dict.fromkeys(SCENARIOS, 0.0) | {"1.1": 1.0, "2.1": 1.0}},
         "expected 4 of 2.1 to 4.2 above 0"),
        ({"beside_m": -1.0}, "beside_m"),
    ],
)  # fmt: skip
def test_settings_that_do_not_go_together_are_refused(change, message):
    values = msgspec.to_builtins(SETTINGS) | change
    with pytest.raises(msgspec.ValidationError, match=message):
        msgspec.convert(values, IntentsSettings)


def test_the_builders_styles_are_codes_of_the_vocabulary():
    for style in PLAIN_STYLES:
        assert WORDS.style(style.style).form_words(style.form)
        assert WORDS.style(style.style).length_words(style.length)
