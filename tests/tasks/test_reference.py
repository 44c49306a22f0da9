"""Reference models: the loss by brute force, training that learns and repeats, pairs."""

import math

import numpy as np
import polars as pl
import pytest
import torch

from pipeline.tasks.reference.contrast import ContrastSettings, Pairs, Towers, _batches, _info_nce
from pipeline.tasks.reference.sem import pairs_of


def test_the_loss_is_that_of_both_directions_without_twins():
    similar = np.array([[2.0, 0.5, 1.0], [0.0, 1.0, 3.0], [1.0, -1.0, 0.0]])
    routes = [7, 7, 8]
    total = 0.0
    for k in range(3):
        for line in (similar[k], similar[:, k]):
            others = [j for j in range(3) if j == k or routes[j] != routes[k]]
            total += math.log(sum(math.exp(line[j]) for j in others)) - line[k]
    found = _info_nce(torch.tensor(similar), torch.tensor(routes))
    assert float(found) == pytest.approx(total / 6)


def test_towers_learn_what_belongs_together_and_repeat_it():
    # Trips are their queries, turned and stretched: nothing is near before training.
    rng = np.random.Generator(np.random.Philox(5))
    queries = rng.normal(size=(400, 8))
    trips = queries @ rng.normal(size=(8, 12))
    told = slice(300, 400)
    pairs = Pairs(np.arange(300), np.arange(300))
    plan = ContrastSettings(width=16, hidden=64, epochs=60, batch=100, rate=3e-3)

    def share_first(towers):
        cosines = towers.of_queries(queries[told]) @ towers.of_trips(trips[told]).T
        return float((cosines.argmax(axis=1) == np.arange(100)).mean())

    towers = Towers.trained(queries[:300], trips[:300], pairs, plan, seed=3)
    again = Towers.trained(queries[:300], trips[:300], pairs, plan, seed=3)
    untrained = Towers.trained(
        queries[:300], trips[:300], pairs, plan._replace(epochs=1, rate=0.0), seed=3
    )
    assert share_first(untrained) < 0.1
    assert share_first(towers) > 0.7
    assert towers.of_trips(trips).tobytes() == again.of_trips(trips).tobytes()


def test_queries_are_paired_with_their_trips_and_equal_routes_are_equal():
    queries = pl.DataFrame({"target": [{"trip_id": "b"}, {"trip_id": "a"}, {"trip_id": "b"}]})
    trips = pl.DataFrame({"trip_id": ["a", "b", "c"], "edge_ids": [["1", "2"], ["3"], ["1", "2"]]})
    pairs = pairs_of(queries, trips)
    assert pairs.trip.tolist() == [1, 0, 1]
    assert pairs.route[0] == pairs.route[2] != pairs.route[1]


def test_an_epoch_holds_every_trip_once_with_a_query_of_its_own():
    pairs = Pairs(np.array([0, 0, 1, 2, 2, 2, 3, 4, 4, 5, 6]), np.arange(7))
    plan = ContrastSettings(epochs=40, batch=3)
    batches = list(_batches(pairs, plan, seed=1))
    assert len(batches) == 40 * 2
    drawn = set()
    for first, second in zip(batches[::2], batches[1::2], strict=True):
        queries = np.concatenate([first, second])
        assert sorted(pairs.trip[queries]) == [0, 1, 2, 3, 4, 5, 6]
        assert min(len(first), len(second)) >= 3
        drawn |= set(queries.tolist())
    assert drawn == set(range(11))


def test_training_leaves_threads_and_random_numbers_of_others_alone():
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    vectors = np.eye(4)
    Towers.trained(
        vectors, vectors, Pairs(np.arange(4), np.arange(4)), ContrastSettings(epochs=1), seed=0
    )
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), state)
