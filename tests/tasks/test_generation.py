"""Routes scored by hand on a town of blocks of 100 m, and the laws that scores keep."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ContractError, SourceError
from pipeline.params import section_of
from pipeline.tasks.floors import generation_references
from pipeline.tasks.generation import KS, MEASURES, GenerationScorer
from pipeline.tasks.ground import Ground
from pipeline.tasks.predictions import Matched
from pipeline.tasks.released import open_release
from pipeline.tasks.routes import points_of, routes_of
from pipeline.tasks.settings import GenerationSettings
from tests.tasks.town import Trip, road_cells, roads, route, write_release

ROOT = Path(__file__).resolve().parents[2]
SETTINGS: GenerationSettings = section_of(
    ROOT / "params.yaml", "score_generation", GenerationSettings
)
TRUE = [0, 1, 2, 3, 13]  # 400 m
TRIPS = [
    Trip("a", "train", [0, 1, 2, 12]),
    Trip("b", "train", [20, 21, 22, 23, 24]),
    Trip("c", "test", TRUE, ("1.1", "4.1")),
    Trip("d", "test", [20, 21, 22, 23, 24]),
]
# The texts of trip c ask for the street of its end, in these two scenarios.
UNASKED = {f"met_{code}" for code in ("1_2", "2_1", "2_2", "2_3", "3_1", "3_2", "3_3", "4_2")}
LENGTHS = [one.name for one in MEASURES if one.unit == "km"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_release(tmp_path_factory.mktemp("toy"), TRIPS, one_way=[1])


@pytest.fixture(scope="module")
def scorer(folder):
    return GenerationScorer(open_release(folder), "test", SETTINGS, near=0.8)


def with_settings(folder, **changed):
    values = {name: getattr(SETTINGS, name) for name in SETTINGS.__struct_fields__} | changed
    return GenerationScorer(open_release(folder), "test", GenerationSettings(**values), near=0.8)


def score(scorer, answer, candidates=None, *, predicted=True):
    """Score one answer to an instruction of trip c; return its row, and the whole."""
    routes, others = [None] * 6, [None] * 6
    routes[0], others[0] = answer, candidates
    assert scorer.instances["trip_id"][0] == "c"
    rows = scorer.instances.with_columns(
        pl.Series("edge_ids", routes, dtype=pl.List(pl.String)),
        pl.Series("candidates", others, dtype=pl.List(pl.List(pl.String))),
        predicted=pl.Series([predicted] + [False] * 5),
    )
    scored = scorer.scored(Matched(rows, 0))
    return scored.rows.row(0, named=True), scored


def test_the_truth_itself_is_perfect(scorer):
    row, _ = score(scorer, route(*TRUE))
    assert row["status"] == "ok"
    for one in MEASURES:
        if one.name in UNASKED:
            assert row[one.name] is None
            continue
        perfect = {"lower": 0.0, "higher": 1.0, "": float(one.unit != "count")}[one.better]
        assert row[one.name] == pytest.approx(perfect, abs=1e-12), one.name


def test_a_route_by_hand(scorer):
    # East to node 2, then north to node 12: it ends one block west of the true end.
    row, _ = score(scorer, route(0, 1, 2, 12))
    assert row["dist_km"] == pytest.approx(0.1, rel=2e-3)
    # Points 0 1 2 12 beside 0 1 2 3 13: 12 is 141 m from 3 and 100 m from 13; 2 is 100 m from 3.
    # Cheapest: 2 with 2 and 3 (100), 12 with 13 (100).
    assert row["dtw_km"] == pytest.approx(0.2, rel=2e-3)
    assert row["hausdorff_km"] == pytest.approx(0.1, rel=2e-3)
    assert row["under_routing"] == row["over_routing"] == 0.0
    # The last segments 2 > 12 and 3 > 13: 12 and 13 are neighbours, so are 2 and 3.
    assert [row[f"hit_at_{k}"] for k in KS] == [0, 1, 1, 1]
    # As one drives: 12 to 13 to 3, two nodes on, then the true one.
    assert [row[f"hit_directed_at_{k}"] for k in KS] == [0, 1, 1, 1]
    assert row["start_kept"] == row["joints_touching"] == row["one_ways_obeyed"] == 1.0
    assert row["length_over_shortest"] == pytest.approx(1.0)


@pytest.mark.parametrize(("edr_m", "edits"), [(90.0, 2), (110.0, 1)])
def test_edr_by_hand(folder, edr_m, edits):
    row, _ = score(with_settings(folder, edr_m=edr_m), route(0, 1, 2, 12))
    # 0 1 2 as they are; within 90 m neither 3 nor 13 has a partner. Within 110 m 12 matches 13.
    assert row["edr"] == edits / 5


def test_jaccard_is_of_cells(scorer):
    row, _ = score(scorer, route(0, 1, 2, 12))
    table = roads(one_way=[1])
    cells = dict(road_cells(table).select("edge_id", "cell").iter_rows())
    own, true = ({cells[one] for one in route(*nodes)} for nodes in ([0, 1, 2, 12], TRUE))
    assert row["jaccard"] == len(own & true) / len(own | true)
    assert row["dest_hit"] == (cells[route(2, 12)[0]] == cells[route(3, 13)[0]])


def test_cells_of_the_truth_are_those_of_its_phases(scorer):
    ground, target = scorer.ground, scorer.instances["target"].struct.unnest()
    for k, cells in enumerate(target["cells"]):
        numbers = scorer.truth.values[scorer.truth.starts[k] : scorer.truth.starts[k + 1]]
        assert {ground.cells[int(n)] for n in ground.cell[numbers]} == set(cells)


def test_routes_too_long_and_too_short(scorer):
    long = [0, 10, 20, 21, 22, 23, 13, 3, 13]
    assert score(scorer, route(*long))[0]["over_routing"] == 1.0  # 800 m beside 400 m
    assert score(scorer, route(0, 1))[0]["under_routing"] == 1.0  # 100 m
    assert score(scorer, route(0, 1, 2))[0]["under_routing"] == 0.0  # 200 m are the half


WRONG = {
    "missing": (None, False),
    "empty": ([], True),
    "empty, null": (None, True),
    "unknown_segment": ([*route(0, 1), "999:1:2"], True),
    "unknown_segment, null": ([*route(0, 1), None], True),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_missing_or_invalid_is_scored_as_wrong(scorer, case):
    answer, predicted = WRONG[case]
    row, scored = score(scorer, answer, predicted=predicted)
    stay, _ = score(scorer, route(*TRUE[:2]))
    assert row["status"] == case.split(",")[0]
    for one in MEASURES:
        if one.name in LENGTHS or one.name.endswith("_routing"):
            assert row[one.name] == stay[one.name], one.name
        elif one.name == "length_over_shortest":
            assert row[one.name] == 1.0
        elif one.name in UNASKED:
            assert row[one.name] is None
        else:
            worst = {"higher": 0.0, "lower": 1.0, "": 0.0}
            assert row[one.name] == worst[one.better], one.name
    assert scored.rows.height == 6
    # Null is only what a text does not ask for.
    asked = scored.rows.drop(*UNASKED, "met_4_1")
    assert asked.null_count().transpose().sum().item() == 0
    counted = scored.coverage
    assert counted.instances == counted.predicted + counted.missing == 6
    assert sum(counted.invalid.values()) == (1 if predicted else 0)


def test_a_route_is_cut_at_its_first_gap(folder, scorer):
    gap = [*route(0, 1), *route(2, 3, 13)]
    row, _ = score(scorer, gap)
    short, _ = score(scorer, route(0, 1))
    same = {*LENGTHS, "jaccard", "edr", "dest_hit"}
    assert {name: row[name] for name in same} == {name: short[name] for name in same}
    assert row["joints_touching"] == 0.5
    whole, _ = score(with_settings(folder, gaps="score_whole"), gap)
    assert (whole["dest_hit"], whole["dist_km"], whole["joints_touching"]) == (1.0, 0.0, 0.5)


def test_a_one_way_driven_backwards_is_recognised(scorer):
    row, _ = score(scorer, route(0, 1, 0, 1))  # the first row runs east
    assert row["status"] == "ok"
    assert row["one_ways_obeyed"] == pytest.approx(2 / 3)
    assert row["joints_touching"] == 1.0
    assert score(scorer, route(0, 10, 0))[0]["one_ways_obeyed"] == 1.0


def test_a_route_that_begins_elsewhere_is_scored_as_it_is(scorer):
    row, _ = score(scorer, route(2, 3, 13))
    assert (row["start_kept"], row["dest_hit"], row["dist_km"]) == (0.0, 1.0, 0.0)


def test_the_oracle_takes_the_candidate_that_ends_nearest(scorer):
    near, far, broken = route(0, 1, 2, 12), route(0, 10), [*route(3, 13), "999:1:2"]
    row, _ = score(scorer, far, [broken, near, [], None])
    alone, _ = score(scorer, near)
    names = [one.name for one in MEASURES if f"oracle_{one.name}" in row]
    assert len(names) == 16
    assert [row[f"oracle_{name}"] for name in names] == [alone[name] for name in names]
    assert row["oracle_dist_km"] < row["dist_km"]
    chosen, _ = score(scorer, near, [far])
    assert chosen["oracle_dist_km"] == chosen["dist_km"]


def test_an_invalid_answer_is_not_saved_by_its_candidates(scorer):
    row, scored = score(scorer, ["999:1:2"], [route(*TRUE)])
    assert (row["status"], row["oracle_dest_hit"], row["oracle_edr"]) == ("unknown_segment", 0, 1)
    assert [one.name for one in scored.measures] == scored.rows.columns[6:]


def test_points_along_the_segments(folder):
    dense = with_settings(folder, points="densified", step_m=25.0)
    ground = dense.ground
    lists = ground.numbered(pl.Series([route(0, 1, 2), route(1, 0)]))
    points = points_of(lists, ground, points="densified", step_m=25.0)
    assert points.starts.tolist() == [0, 9, 14]  # 1 + 4 a block
    ends = points_of(lists, ground, points="ends", step_m=25.0)
    assert points.rows[[0, 4, 8, 9, 13]] == pytest.approx(ends.rows, abs=1e-12)
    east = points.rows[:9, 0] - points.rows[0, 0]
    assert np.diff(east) == pytest.approx(np.full(8, east[-1] / 8))
    assert score(dense, route(*TRUE))[0]["dtw_km"] == pytest.approx(0, abs=1e-9)
    # A block east instead of north: four points at 25, 50, 75, 100 m instead of one at 100 m.
    row, _ = score(dense, route(0, 1, 2, 12))
    plain, _ = score(with_settings(folder, points="ends"), route(0, 1, 2, 12))
    assert row["hausdorff_km"] == pytest.approx(plain["hausdorff_km"], rel=1e-6)
    assert row["dtw_km"] > plain["dtw_km"]


nodes = st.integers(1, 6).flatmap(lambda n: st.lists(st.integers(0, 3), min_size=n, max_size=n))
STEPS = {0: 1, 1: 10, 2: -1, 3: -10}


def walked(turns):
    """Return nodes of a walk in the town, from node 0 east; steps out of it are left out."""
    found = [0, 1]
    for turn in turns:
        there = found[-1] + STEPS[turn]
        if there >= 0 and there % 10 < 5 and there // 10 < 5:
            found.append(there)
    return found


@settings(max_examples=60)
@given(nodes, nodes)
def test_laws_of_any_route(turns, others):
    table = roads(one_way=[1])
    ground = Ground.build(table, road_cells(table))
    routes = routes_of(
        pl.Series([route(*walked(turns)), route(*walked(others))]), ground, gaps="cut"
    )
    assert routes.fault.null_count() == 2
    assert (routes.touching == 1).all()
    assert ((routes.obeyed > 0) & (routes.obeyed <= 1)).all()


@settings(max_examples=40)
@given(nodes, st.lists(nodes, max_size=3))
def test_bounds_and_the_oracle(scorer, turns, others):
    candidates = [route(*walked(one)) for one in others]
    row, scored = score(scorer, route(*walked(turns)), [*candidates, []])
    for one in scored.measures:
        if one.unit == "share" and one.name not in UNASKED:
            assert 0 <= row[one.name] <= 1
        elif row[one.name] is not None:
            assert row[one.name] >= 0
    assert row["oracle_dist_km"] <= row["dist_km"] + 1e-12
    for more, fewer in ((10, 5), (5, 3), (3, 1)):
        assert row[f"hit_at_{more}"] >= row[f"hit_at_{fewer}"]
        assert row[f"hit_directed_at_{more}"] >= row[f"hit_directed_at_{fewer}"]
        assert row[f"hit_at_{more}"] >= row[f"hit_directed_at_{more}"]


def test_the_less_of_the_truth_the_worse(scorer):
    rows = [score(scorer, route(*TRUE[: k + 1]))[0] for k in range(1, len(TRUE))]
    for name in (*LENGTHS, "edr"):
        values = [row[name] for row in rows]
        assert values == sorted(values, reverse=True), name
    values = [row["jaccard"] for row in rows]
    assert values == sorted(values)


def test_groups_and_options_are_in_the_scores(scorer):
    _, scored = score(scorer, route(*TRUE))
    rows = scored.rows
    assert rows.columns[:6] == [
        "instance_id", "trip_id", "style", "scenario", "known_route", "status",
    ]  # fmt: skip
    assert rows["scenario"].to_list()[0] == ["1.1", "4.1"]
    # d drives the very route of b; c shares two segments of five with a.
    assert dict(rows.select("trip_id", "known_route").iter_rows()) == {"c": "new", "d": "exact"}
    assert scored.options["gaps"] == "cut"


def test_floors_guides_and_the_ceiling(scorer):
    found = {one.name: one for one in generation_references(scorer, seed=7)}
    assert [(name, one.kind) for name, one in found.items()] == [
        ("missing", "floor"), ("chance", "floor"), ("shortest_to_truth", "guide"),
        ("truth", "ceiling"),
    ]  # fmt: skip
    assert set(found["missing"].scored.rows["status"]) == {"missing"}
    direct, truth = found["shortest_to_truth"].scored.rows, found["truth"].scored.rows
    assert direct["hit_at_1"].to_list() == direct["start_kept"].to_list() == [1.0] * 6
    assert direct["length_over_shortest"].to_list() == pytest.approx([1.0] * 6)
    assert truth["dtw_km"].to_list() == truth["edr"].to_list() == [0.0] * 6
    chance = found["chance"].scored.rows
    assert set(chance["status"]) == {"ok"}
    again = generation_references(scorer, seed=7)[1].scored.rows
    assert again.equals(chance)


def test_references_have_the_oracle_of_a_single_route(scorer):
    for one in generation_references(scorer, seed=7, oracle=True):
        rows = one.scored.rows
        names = [name for name in rows.columns if name.startswith("oracle_")]
        assert len(names) == 16
        assert all(rows[name].equals(rows[name.removeprefix("oracle_")]) for name in names)


def test_chance_draws_another_trip_and_only_of_train(folder, tmp_path):
    release = open_release(folder)
    train = GenerationScorer(release, "train", SETTINGS, near=0.8)
    chance = generation_references(train, seed=7)[1].scored.rows
    assert (chance["edr"] > 0).all()  # of two trips the other one
    alone = write_release(tmp_path / "alone", TRIPS[2:3])
    scorer = GenerationScorer(open_release(alone), "test", SETTINGS, near=0.8)
    names = [one.name for one in generation_references(scorer, seed=7)]
    assert names == ["missing", "shortest_to_truth", "truth"]


def test_a_split_without_instances_and_a_ground_of_another_city_are_named(folder, tmp_path):
    release = open_release(folder)
    with pytest.raises(SourceError, match=r"val\.parquet: expected instances, found none"):
        GenerationScorer(release, "val", SETTINGS, near=0.8)
    release.roads = roads(2)
    release.road_cells = road_cells(release.roads)
    with pytest.raises(ContractError, match=r"expected segments of ground/roads\.parquet"):
        GenerationScorer(release, "test", SETTINGS, near=0.8)
