"""The paper's agreement figures beside what chance alone would give, and how fast ours are.

    python bench/agreement.py --items 100000

Table 14 reports how often two raters differ by at most 1. How often they would without looking
follows from their scores' distributions; those are not published, so each rater is given the
flattest one on 1-5 that has the mean of Table 13. Any other distribution with that mean is more
peaked somewhere; the column is a yardstick, not a measurement.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.quality.agreement import (
    ScoreTable,
    interval,
    ordinal_alpha,
    weighted_kappa,
    within_one_by_chance,
)
from pipeline.quality.rubric import CRITERIA
from pipeline.seeds import rng_for

# Table 13: mean scores, in the order of CRITERIA.
MEANS = {
    "G": (4.31, 4.86, 4.64, 4.98, 4.82, 4.62, 4.80, 4.90, 4.53, 4.90),
    "P": (4.74, 4.84, 4.99, 4.98, 4.86, 4.87, 4.88, 4.99, 4.98, 5.00),
    "Q": (4.06, 4.19, 4.83, 4.19, 4.14, 4.21, 4.47, 4.63, 4.52, 4.79),
    "H1": (4.05, 3.88, 4.59, 5.00, 4.04, 3.91, 3.90, 4.13, 3.90, 4.85),
    "H2": (3.98, 3.84, 4.71, 4.30, 4.03, 3.76, 3.59, 4.16, 3.77, 3.89),
    "H3": (4.54, 4.77, 4.91, 4.90, 4.78, 4.89, 4.87, 4.99, 4.98, 4.99),
}
# Table 14: share of scores that differ by at most 1, per cent, in the order of CRITERIA.
WITHIN_ONE = {
    "G-P": (81.7, 94.8, 89.1, 99.6, 98.2, 89.5, 94.1, 98.8, 88.4, 97.8),
    "G-Q": (87.6, 96.1, 91.2, 99.6, 99.4, 96.1, 94.3, 99.5, 93.4, 98.4),
    "P-Q": (99.3, 98.8, 99.7, 99.8, 99.7, 99.7, 98.8, 100.0, 99.9, 99.8),
    "H1-H2": (99.0, 98.0, 100.0, 95.0, 98.0, 98.0, 96.0, 99.0, 100.0, 91.0),
    "H1-H3": (96.0, 90.0, 100.0, 99.0, 94.0, 88.0, 91.0, 90.9, 84.8, 100.0),
    "H2-H3": (89.0, 86.0, 99.0, 94.0, 85.0, 77.0, 69.0, 84.8, 74.7, 85.9),
}
_LEVELS = np.arange(1, 6)


class PaperRow(NamedTuple):
    """One figure of Table 14 and its chance level, both per cent."""

    pair: str
    criterion: str
    published: float
    chance: float


def flattest(mean: float) -> np.ndarray:
    """Return the shares of the scores 1 to 5 with this mean and the largest entropy.

    They are proportional to exp(s x score); the slope s is found by halving.
    """
    low, high = -200.0, 200.0
    for _ in range(200):
        slope = (low + high) / 2
        exponent = slope * (_LEVELS - (5 if slope > 0 else 1))
        shares = np.exp(exponent) / np.exp(exponent).sum()
        low, high = (slope, high) if shares @ _LEVELS < mean else (low, slope)
    return shares


def paper_rows() -> Iterator[PaperRow]:
    """Yield every figure of Table 14 for two models or two people."""
    for pair, published in WITHIN_ONE.items():
        first, second = pair.split("-")
        for number, criterion in enumerate(CRITERIA):
            joint = np.outer(flattest(MEANS[first][number]), flattest(MEANS[second][number]))
            chance = 100 * float(within_one_by_chance(joint))
            yield PaperRow(pair, criterion, published[number], round(chance, 1))


def _print_paper() -> None:
    rows = list(paper_rows())
    print("published / chance, per cent")
    print(f"{'':32}" + "".join(f"{pair:>14}" for pair in WITHIN_ONE))
    for criterion in CRITERIA:
        cells = [row for row in rows if row.criterion == criterion]
        print(f"{criterion:32}" + "".join(f"{c.published:7.1f} /{c.chance:5.1f}" for c in cells))
    for pair in WITHIN_ONE:
        cells = [row for row in rows if row.pair == pair]
        below = sum(row.published <= row.chance for row in cells)
        print(f"{pair}: {below} of {len(cells)} at or below chance")


def _print_speed(items: int) -> None:
    rng = rng_for(7, "bench", "agreement")
    scores = np.clip(rng.integers(1, 6, (items, 1)) + rng.integers(-1, 2, (items, 3)), 1, 5)
    start = time.process_time()
    table = ScoreTable(scores)
    alpha, grouped = float(ordinal_alpha(table.coincidences())), time.process_time()
    draws = table.draws(rng, 1000)
    low, high = interval(ordinal_alpha(table.coincidences(draws)), 0.95)
    weighted_kappa(table.confusion(0, 1, draws))
    end = time.process_time()
    print(
        f"{items:,} items by 3 raters: alpha {alpha:.4f} in {grouped - start:.3f} CPU-s, 1,000"
        f" resamples of alpha and kappa [{low:.4f}, {high:.4f}] in {end - grouped:.3f} CPU-s more"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=100_000, help="scored items, for the speed")
    asked = parser.parse_args()
    _print_paper()
    _print_speed(asked.items)
