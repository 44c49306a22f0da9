"""Reference mode reproduces recorded measures and scores: our own, and the published ones if there.

The published vectors lie in the folder `shared/stride` beside the project, where somebody has them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline import __main__ as command_line
from pipeline.stride.benchmark import read_benchmark
from pipeline.stride.importers.states import StatesFile
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES
from pipeline.stride.measures.undefined import UndefinedError
from pipeline.stride.scoring import score_benchmark
from pipeline.stride.sources import MemorySource, Settings, open_source, read_states
from pipeline.stride.trajectories import trajectory
from pipeline.stride.traps import traps_of
from tests.stride import make_vectors

OWN = Path(__file__).parent / "vectors"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "stride"
REFERENCE = Settings("reference")


def vectors():
    """Yield (states file, key, rows) of every recorded array."""
    for key, rows in json.loads((OWN / "measures.json").read_text()).items():
        yield pytest.param(OWN / "states.npz", key, rows, id=f"own-{key}")
    if SHARED.is_dir():
        recorded = json.loads((SHARED / "measure_vectors.json").read_text("utf-8"))
        for key, entry in recorded.items():
            file = SHARED / "measure_vectors.npz"
            yield pytest.param(file, key, entry["measures"], id=f"shared-{key}")


def scored_sets():
    """Yield (benchmark, states, recorded scores)."""
    yield OWN / "benchmark.json", OWN / "states.npz", OWN / "scores.json"
    if SHARED.is_dir():
        yield (
            SHARED / "benchmark_sample.json", SHARED / "score_vectors.npz",
            SHARED / "score_vectors.json",
        )  # fmt: skip


@pytest.mark.parametrize(("file", "key", "rows"), list(vectors()))
def test_measures_are_the_recorded_ones(file, key, rows):
    with StatesFile(file) as states:
        clip = Clip(read_states(states.array(key), None, settings=REFERENCE).walk)
    for row in rows:
        measure = MEASURES[row["function"]]
        try:
            value = measure.value(clip, row["params"])
        except UndefinedError:
            assert row["value"] is None, row
            continue
        value = measure.empty if value is None else value
        assert value == pytest.approx(row["value"], rel=1e-9, abs=1e-12), row


@pytest.mark.parametrize(("bench", "states", "recorded"), list(scored_sets()))
def test_scores_are_the_recorded_ones(bench, states, recorded):
    wanted = json.loads(recorded.read_text("utf-8"))
    with open_source(states, settings=REFERENCE) as source:
        scores = {
            one.scenario.id: one
            for one in score_benchmark(read_benchmark(bench), source, mode="reference")
        }
    for scene_id, record in wanted.items():
        score = scores[scene_id]
        assert score.score == record["scene_score"], scene_id
        for question, asked in zip(score.questions, record["questions"], strict=True):
            assert question.score == asked["score"], (scene_id, question.id)
            for check, row in zip(question.checks, asked["checks"], strict=True):
                passed = None if check.passed is None else int(check.passed)
                assert [check.measure or check.function, check.value, passed] == row


def test_the_committed_vectors_are_what_makes_them_makes():
    arrays = {f"v{n}": make_vectors.crowd(kind, n) for n, kind in enumerate(make_vectors.KINDS)}
    with np.load(OWN / "states.npz", allow_pickle=False) as kept:
        assert sorted(kept.files) == sorted(arrays)
        for key, array in arrays.items():
            assert (kept[key] == array).all()
    scores = json.loads((OWN / "scores.json").read_text())
    assert scores == {key: make_vectors.score(array) for key, array in arrays.items()}


def test_the_command_prints_the_recorded_measures(capsys):
    rows = json.loads((OWN / "measures.json").read_text())["v0"]
    argv = ["stride", "measure", str(OWN / "states.npz"), "--key", "v0", "--json"]
    argv += ["--mode", "reference", "--param", "clustering_trend.eps_mult=2.5"]
    assert command_line.main(argv) == 0
    printed = {one["function"]: one for one in json.loads(capsys.readouterr().out)["measures"]}
    assert len(printed) == 20
    for row in rows:
        name = row["function"]
        if row["params"] == printed[name]["params"]:
            assert printed[name]["value"] == pytest.approx(row["value"], rel=1e-9, abs=1e-12)
    assert printed["clustering_trend"]["params_used"] == {"eps_mult": 2.5, "n_bins": 5}


def sample_scores(make, mode):
    """Score the trajectories that `make` gives for each scenario of the published sample."""
    benchmark = read_benchmark(SHARED / "benchmark_sample.json")
    walks = {one.id: make(one) for one in benchmark.scenarios}
    source = MemorySource(walks)
    return [one.score for one in score_benchmark(benchmark, source, mode=mode)]


def of(states):
    present = ~((states[:, :, 0] == 0) & (states[:, :, 1] == 0))
    return trajectory(
        states[:, :, :2], present, dt_s=None, velocity=states[:, :, 2:4], radius=states[:, :, 6]
    )


if SHARED.is_dir():

    @pytest.mark.parametrize(
        ("states", "mean", "std"),
        [(np.full((20, 4, 7), np.nan), 0.601, 0.094), (np.zeros((60, 4, 7)), 0.247, 0.114)],
    )
    def test_nan_and_nobody_score_on_the_published_sample_what_was_published(states, mean, std):
        scores = sample_scores(lambda _: of(states), "reference")
        assert np.mean(scores) == pytest.approx(mean, abs=5e-4)
        assert np.std(scores, ddof=1) == pytest.approx(std, abs=5e-4)
        walk = of(states)
        assert traps_of(walk) or not walk.present.any()
        assert sample_scores(lambda _: of(states), "strict") == [0.0] * 61
