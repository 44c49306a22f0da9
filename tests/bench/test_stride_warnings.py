"""The bench of warnings on toy walks: a sound one has none, each change has its own."""

import numpy as np
import pytest

from bench.stride_warnings import CHANGES, Case, codes, table
from pipeline.seeds import rng_for
from pipeline.stride.placement import Ground, Place
from tests.stride.crowds import walkers


@pytest.fixture
def case():
    starts = np.array([30.0, 20.0]) + rng_for(1, "test", "warnings").uniform(-8, 8, (12, 2))
    walk = walkers(starts, [(0.7, 0.5)] * 12, frames=40)
    return Case(walk, Place(starts, np.array([120.0, 100.0])), Ground(), 12)


FLAGS = {
    "as it is": set(),
    "velocity x 0.62": {"velocity_scaled"},
    "velocity x 0.94": {"velocity_scaled"},
    "velocity x 0.97": set(),
    "velocity x 1.03": set(),
    "velocity x 1.06": {"velocity_scaled"},
    "velocity x 1.40": {"velocity_scaled"},
    "north to south": {"flipped"},
    "east to west": {"flipped"},
    "x and y swapped": {"flipped"},
    "sign of y": {"flipped", "off_map"},
    "moved by 1 m": set(),
    "moved by 3 m": {"far_from_starts"},
    "moved by 500 m": {"far_from_starts", "off_map"},
    "one missing": {"people_differ"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_of_a_walk_has_its_own_warning(case, name):
    assert set(codes(CHANGES[name](case))) == FLAGS[name]


def test_the_table_counts_walks(case):
    lines = list(table([case, case]))
    assert len(lines) == len(CHANGES)
    assert lines[0].split() == ["as", "it", "is", "2", "-"]
    assert lines[-1].endswith("people_differ 2")
