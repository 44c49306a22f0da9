"""Write the committed vectors: small crowds, and what the plainly written measures say of them.

python -m tests.stride.make_vectors

Values come from `bench/stride_plain.py`, scores from the few lines below; nothing of
pipeline/stride is asked. All is of our own making: the tests are whole without anybody's data.
"""

import json
from pathlib import Path

import numpy as np

from bench.stride_plain import PLAIN
from pipeline.seeds import rng_for

FOLDER = Path(__file__).parent / "vectors"
KINDS = ("stream", "gather", "scatter", "stand", "jitter")
PARAMS = (
    ("mean_local_density", {"radius_mult": 2.5}), ("peak_local_density", {"radius_mult": 3.0}),
    ("spatial_concentration", {"n_grid": 8}), ("lingering_fraction", {"speed_threshold": 1.0}),
    ("speed_trend", {"n_bins": 3}), ("density_trend", {"radius_mult": 2.0, "n_bins": 4}),
    ("clustering_trend", {"eps_mult": 2.5}),
    ("lingering_trend", {"speed_threshold": 1.2, "n_bins": 4}),
)  # fmt: skip
QUESTIONS = (
    (
        ("mean_speed", {}, {"min": 0.8, "max": 1.4}, 0.05),
        ("path_linearity", {}, {"min": 0.9}, 0.02),
    ),
    (
        ("dmt.Flow-Alignment", {}, {"min": 0.5}, 0.05),
        ("convergence_score", {}, {"max": 0.2}, 0.1),
    ),
    (("collision_fraction", {}, {"min": 0.001, "max": 0.01}, 0.002),),
    (
        ("clustering_trend", {"nBins": 4}, {"min": -0.1, "max": 0.1}, 0.05),
        ("unheard_of", {}, {"min": 0}, 0),
    ),
)


def crowd(kind: str, number: int) -> np.ndarray:
    """Return states of a few people, to the millimetre; some come late or leave early."""
    rng = rng_for(number, "stride_vectors", kind)
    frames, agents = int(rng.integers(12, 60)), int(rng.integers(4, 14))
    start = rng.uniform(10, 30, (agents, 2))
    out = start - start.mean(axis=0)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    heading = {
        "stream": rng.normal([1.2, 0], 0.2, (agents, 2)),
        "gather": -0.8 * out,
        "scatter": 1.6 * out,
    }
    velocity = np.zeros((frames, agents, 2)) + heading.get(kind, np.zeros((agents, 2)))
    if kind == "jitter":
        velocity = rng.normal(0, 0.8, velocity.shape)
    states = np.zeros((frames, agents, 7))
    states[:, :, :2] = start + np.cumsum(velocity, axis=0) * 0.4
    states[:, :, 2:4] = velocity
    states[:, :, 4:6] = states[-1, :, :2]
    states[:, :, 6] = rng.uniform(0.15, 0.35, agents)
    for agent in range(0, agents, 3):
        first, last = sorted(rng.integers(0, frames + 1, 2))
        states[:first, agent] = states[last:, agent] = 0.0
    return np.round(states, 3)


def values(states: np.ndarray) -> list[dict]:
    rows = [(name, {}) for name in PLAIN] + list(PARAMS)
    return [
        {"function": name, "params": params, "value": None if value is None else float(value)}
        for name, params in rows
        for value in [PLAIN[name](states, **params)]
    ]


def scenario(scene_id: str) -> dict:
    return {
        "source_scene_id": scene_id, "scenario_id": "square", "description": "People.",
        "category": "Ambulatory", "location": "square", "n_agents": 10,
        "decomposition_reasoning": "",
        "questions": [
            {"id": f"Q{n}", "question": "V: ?", "measurements": [
                {"function": name, "params": params, "expected_result": expected,
                 "expected_result_reasoning": "", "delta_value": delta}
                for name, params, expected, delta in rows
            ]}
            for n, rows in enumerate(QUESTIONS, start=1)
        ],
    }  # fmt: skip


def judged(states: np.ndarray, row: tuple) -> list:
    """Return name, value to 4 decimals, and whether it is in bounds with a tolerance of 0.01."""
    written, params, expected, delta = row
    name = written.rpartition(".")[2].lower().replace("-", "_")
    if name not in PLAIN:
        return [name, None, None]
    result = round(float(PLAIN[name](states, **({"n_bins": 4} if params else {}))), 4)
    slack = max(delta, 0.01)
    inside = expected.get("min", -1e9) - slack <= result <= expected.get("max", 1e9) + slack
    return [name, result, int(inside)]


def score(states: np.ndarray) -> dict:
    """Score as the published rules say: means of means, each rounded to 4 decimals."""
    questions = []
    for n, rows in enumerate(QUESTIONS, start=1):
        checks = [judged(states, row) for row in rows]
        counted = [one for _, _, one in checks if one is not None]
        mean = round(sum(counted) / len(counted), 4)
        questions.append({"id": f"Q{n}", "score": mean, "checks": checks})
    mean = round(sum(one["score"] for one in questions) / len(questions), 4)
    return {"scene_score": mean, "questions": questions}


def main() -> None:
    """Write the files."""
    arrays = {f"v{n}": crowd(kind, n) for n, kind in enumerate(KINDS)}
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "states.npz", **arrays)
    measures = {key: values(states) for key, states in arrays.items()}
    scores = {key: score(states) for key, states in arrays.items()}
    benchmark = {"model": "ours", "n_scenes": 5, "scenes": [scenario(key) for key in arrays]}
    for name, content in (("measures", measures), ("scores", scores), ("benchmark", benchmark)):
        text = json.dumps(content, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
