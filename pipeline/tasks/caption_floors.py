"""Floors and ceiling of captioning: texts that no model wrote, scored as those of a model are.

caption_references(scorer, seed=7)
->  empty, constant, other_trip (floors), truth (ceiling)

A measure in which `other_trip` comes near `truth` rewards the way texts are worded, not what they
say of the trip.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.seeds import rng_for
from pipeline.tasks.captioning import CaptionScorer
from pipeline.tasks.measure import Reference, Scored
from pipeline.tasks.predictions import Matched

CONSTANT = "A trip."


def caption_references(scorer: CaptionScorer, *, seed: int) -> tuple[Reference, ...]:
    """Score the references of captioning on the split of a scorer.

    Args:
        scorer: The scorer of the predictions they are compared with.
        seed: The data set's seed.

    Returns:
        empty, constant, other_trip, truth; without other_trip where the split has one trip alone.
    """
    own = scorer.references
    references = [
        Reference("empty", "floor", "A caption without words.", _scored(scorer, [""] * len(own))),
        Reference(
            "constant",
            "floor",
            f"The same for every trip: {CONSTANT!r}",
            _scored(scorer, [CONSTANT] * len(own)),
        ),
    ]
    if len(own) > 1:
        others = [own[row] for row in others_of(scorer.instances["trip_id"], seed=seed)]
        references.append(
            Reference(
                "other_trip",
                "floor",
                "The reference caption of another trip of the split, drawn at random.",
                _scored(scorer, others),
            )
        )
    truth = Reference("truth", "ceiling", "The reference caption itself.", _scored(scorer, own))
    return (*references, truth)


def others_of(trip_ids: pl.Series, *, seed: int) -> list[int]:
    """Return for each trip the row of another: each is taken once, none by itself.

    The trips stand in a circle at random, and each has the next one's.

    Args:
        trip_ids: Different trips, two or more; their order does not matter.
        seed: Seed of the circle.
    """
    places = rng_for(seed, "tasks captions", "other_trip").permutation(len(trip_ids))
    circle = trip_ids.arg_sort().to_numpy()[places]
    others = np.empty_like(circle)
    others[circle] = np.roll(circle, -1)
    return [int(row) for row in others]


def _scored(scorer: CaptionScorer, captions: Sequence[str]) -> Scored:
    rows = scorer.instances.with_columns(
        caption=pl.Series(captions, dtype=pl.String), predicted=pl.lit(value=True)
    )
    return scorer.scored(Matched(rows, 0))
