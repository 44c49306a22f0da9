"""The compiled search and decoding against plain enumeration and nx."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from pyproj import Transformer
from shapely import LineString, Point, from_wkb

from pipeline.seeds import rng_for
from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.path_table import PathTable
from tests.matching.settings_for_tests import settings
from tests.matching.towns import Town, edges_of, points

TO_METRES = Transformer.from_crs(4326, 32631, always_xy=True)


def random_town(seed, **changed):
    """Nine nodes near a lattice, two thirds of its streets, a third of these one-way."""
    rng = rng_for(seed, "test-town", "town")
    spots = {f"{i}{j}": (i * 180.0, j * 180.0) for i in range(3) for j in range(3)}
    nodes = {n: (x + rng.uniform(-40, 40), y + rng.uniform(-40, 40)) for n, (x, y) in spots.items()}
    streets, speeds = [], {}
    for a, b in itertools.combinations(nodes, 2):
        if math.dist(spots[a], spots[b]) > 181 or rng.random() < 0.15:
            continue
        streets.append(f"{a}{'>' if rng.random() < 0.3 else '-'}{b}")
        speeds[f"{a}>{b}"] = speeds[f"{b}>{a}"] = float(rng.choice([20, 30, 50, 80]))
    return Town(nodes, streets, speeds, **changed)


def as_graph(town):
    """The same network as a networkx graph with edge ids, lengths and weights in metres."""
    lines = {}
    graph = nx.MultiDiGraph()
    rows = town.frame
    for name, u, v, shape in rows.select("edge_id", "u", "v", "geometry").iter_rows():
        xs, ys = TO_METRES.transform(*np.array(from_wkb(shape).coords).T)
        lines[name] = LineString(np.column_stack([xs, ys]))
        graph.add_edge(u, v, key=name, length=lines[name].length)
    speed = dict(rows.select("edge_id", "speed_kph").iter_rows())
    for _, _, name, data in graph.edges(keys=True, data=True):
        data["weight"] = data["length"] * 30.0 / speed[name]
    return graph, lines


@pytest.mark.parametrize("seed", range(5))
def test_the_table_holds_the_paths_networkx_finds(seed):
    town = random_town(seed)
    graph, _ = as_graph(town)
    bound = 500.0
    table = PathTable.build(town.network, bound_m=bound, max_mb=10.0, workers=1).table
    edges, ids = town.network.graph.edges, town.network.edge_ids
    names = {}
    for number, (u, v) in zip(
        range(len(ids)), town.frame.select("u", "v").iter_rows(), strict=True
    ):
        at = ids.to_list().index(town.frame["edge_id"][number])
        names[int(edges["u"][at])], names[int(edges["v"][at])] = u, v
    for node, name in names.items():
        wanted = nx.single_source_dijkstra_path_length(graph, name, bound, weight="weight")
        rows = slice(table.start[node], table.start[node + 1])
        found = {
            names[int(t)]: p for t, p in zip(table.target[rows], table.paths[rows], strict=True)
        }
        assert found.keys() == wanted.keys()
        assert {k: float(p["weight"]) for k, p in found.items()} == pytest.approx(wanted, rel=1e-5)


def bend(graph, lines, before, after):
    """The change of heading where one straight street goes over into the next, if others do."""
    node = before.partition(">")[2]
    ways = [name for _, _, name in graph.out_edges(node, keys=True)]
    if len([name for name in ways if name != reverse(before)]) < 2:
        return 0.0
    headings = []
    for name in (before, after):
        (x0, y0), *_, (x1, y1) = lines[name].coords
        headings.append(math.atan2(y1 - y0, x1 - x0))
    change = abs(headings[1] - headings[0])
    return min(change, 2 * math.pi - change)


def reverse(name):
    """The name of a street's other direction."""
    return "".join(reversed(name.partition(">")))


def arrival(town, graph, lines, states, fixes, near):
    """The cost of a step, written from the formula and not from the code."""
    costs, sigma = town.settings, town.settings.sigma_few_m
    (edge_a, offset_a, _), (edge_b, offset_b, _) = states
    fix_a, fix_b = fixes
    straight = math.dist(fix_a[:2], fix_b[:2])
    seconds = fix_b[2] - fix_a[2]
    beta = max(costs.beta_min_m, costs.beta_mps * seconds)
    rows = {r["edge_id"]: r for r in town.frame.select("edge_id", "u", "v").to_dicts()}
    pace = {key: d["weight"] / d["length"] for _, _, key, d in graph.edges(keys=True, data=True)}
    fastest = straight * min(pace[name] for name, _, _ in near)
    mirror = reverse(edge_a)
    turns, bends = 0, 0.0
    if edge_a == edge_b and offset_b >= offset_a - costs.back_m:
        length = max(0.0, offset_b - offset_a)
        weight = length * pace[edge_a]
        lost = 0.0
    elif mirror == edge_b and mirror in lines:
        length = abs(lines[edge_b].length - offset_b - offset_a)
        weight = length * pace[edge_a]
        lost, turns = 0.0, 1
    else:
        tail, head = rows[edge_a]["v"], rows[edge_b]["u"]
        try:
            nodes = nx.dijkstra_path(graph, tail, head, weight="weight")
        except nx.NetworkXNoPath:
            return math.inf
        steps = [f"{u}>{v}" for u, v in itertools.pairwise(nodes)]
        rest = lines[edge_a].length - offset_a
        length = rest + sum(lines[s].length for s in steps) + offset_b
        weight = rest * pace[edge_a] + offset_b * pace[edge_b]
        weight += sum(lines[s].length * pace[s] for s in steps)
        # Who turns round does so where the fix is, and the way there and back is not driven.
        for end, spare, turned in (
            (edge_a, rest, bool(steps) and steps[0] == mirror),
            (edge_b, offset_b, bool(steps) and steps[-1] == reverse(edge_b)),
        ):
            turns += turned
            length -= 2 * spare * turned
            weight -= 2 * spare * turned * pace[end]
        for before, after in itertools.pairwise([edge_a, *steps, edge_b]):
            if reverse(before) != after:
                bends += bend(graph, lines, before, after)
        lost = max(0.0, weight / min(pace[edge_a], pace[edge_b]) - length)
    if length > costs.detour_factor * straight + costs.detour_m:
        return math.inf
    cost = (abs(length - straight) + costs.theta * lost) / beta + costs.bend_cost * bends
    cost += costs.time_cost * 3.6 / 30 * max(0.0, weight - fastest)
    slack = 6 * sigma + 50
    fair = max(max(straight, costs.speed_mps * seconds) + slack, 1.5 * straight + 100)
    return cost + turns * costs.u_turn_cost + max(0.0, length - fair) / costs.speed_slack_m


def off_road(z):
    """The cost of a fix so many sigma away from its road."""
    return 0.5 * z * z if z < 4 else 4 * z - 8


def mirror_free(name):
    """One name for both directions of a street."""
    return min(name, reverse(name))


def states_near(lines, x, y, *, radius, streets):
    """The directed edges (name, offset, distance) of the nearest streets."""
    spot = Point(x, y)
    near = [(name, line.project(spot), line.distance(spot)) for name, line in lines.items()]
    distance = {mirror_free(name): away for name, _, away in near if away <= radius}
    kept = sorted(distance, key=distance.__getitem__)[:streets]
    return [state for state in near if mirror_free(state[0]) in kept]


@pytest.mark.parametrize("seed", range(8))
def test_decoding_finds_the_cheapest_of_all_sequences(seed):
    town = random_town(
        seed, skip_run=0, break_cost=1e6, beam=1e6, radius_m=90.0, wide_radius_m=90.0,
        standing_m=0.0, part_cost=1e9, detour_m=5000.0, segments=6, stay_mps=0.001,
        turn_again_s=0.0, against_cost=1e6,
    )  # fmt: skip
    graph, lines = as_graph(town)
    rng = rng_for(seed, "test-town", "trace")
    trace = [
        (60 + 90 * k + rng.uniform(-30, 30), 150 + rng.uniform(-60, 60), 15.0 * k) for k in range(4)
    ]
    frame = points(trace)
    xy = np.column_stack(TO_METRES.transform(frame["lon"].to_numpy(), frame["lat"].to_numpy()))
    fixes = [(*spot, t) for spot, t in zip(xy, frame["t"], strict=True)]
    states = [states_near(lines, x, y, radius=90, streets=6) for x, y, _ in fixes]
    steps = [
        {
            pair: arrival(town, graph, lines, pair, fixes[k : k + 2], [*states[k], *states[k + 1]])
            for pair in itertools.product(states[k], states[k + 1])
        }
        for k in range(3)
    ]
    best = min(
        sum(off_road(away / town.settings.sigma_few_m) for _, _, away in sequence)
        + sum(steps[k][pair] for k, pair in enumerate(itertools.pairwise(sequence)))
        for sequence in itertools.product(*states)
    )
    trips = town.match(trace).trips
    if math.isinf(best):
        assert trips["reasons"][0].to_list() != []
    else:
        assert trips["cost_per_fix"][0] * 4 == pytest.approx(best, rel=1e-3, abs=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_the_matcher_needs_no_table(seed):
    town = random_town(seed)
    rng = rng_for(seed, "test-town", "walk")
    traces = [
        [(60 + 70 * k + rng.normal(0, 8), 170 + rng.normal(0, 8), 15.0 * k) for k in range(6)]
        for _ in range(5)
    ]
    bare = Matcher(town.network, settings(search_sources=100))
    searched = bare.match(points(*traces), workers=1)
    assert edges_of(searched.path) == edges_of(town.match(*traces).path)
