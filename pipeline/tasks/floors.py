"""What a score is compared with: floors that know nothing, a guide that knows where to, the truth.

generation_references(scorer, seed=7)
->  missing (floor), chance (floor), shortest_to_truth (guide), truth (ceiling)
"""

import numpy as np
import polars as pl

from pipeline.seeds import rng_for
from pipeline.tasks.generation import GenerationScorer
from pipeline.tasks.ground import Ragged
from pipeline.tasks.measure import Reference, Scored
from pipeline.tasks.predictions import Matched
from pipeline.tasks.routes import ids_of, last_of
from pipeline.tasks.shortest import shortest_paths


def generation_references(
    scorer: GenerationScorer, *, seed: int, oracle: bool = False
) -> tuple[Reference, ...]:
    """Score the references of generation on the split of a scorer.

    Args:
        scorer: The scorer of the predictions they are compared with.
        seed: The data set's seed: an instance's random trip is drawn by its id alone.
        oracle: Whether they have oracle measures too, for a model that has candidates.

    Returns:
        Missing, chance, shortest_to_truth, truth; without chance where train has no other trip.
    """
    instances = scorer.instances
    routes = instances.select(edge_ids=pl.col("target").struct.field("edge_ids"))["edge_ids"]
    references = [
        Reference(
            "missing", "floor", "No prediction: the route stays on the start segment, hits are 0.",
            _scored(scorer, routes.clear(routes.len()), oracle, predicted=False),
        )
    ]  # fmt: skip
    chance = _chance(scorer, seed)
    if chance is not None:
        references.append(
            Reference(
                "chance", "floor", "The route of a random other trip of train.",
                _scored(scorer, chance, oracle),
            )
        )  # fmt: skip
    direct = ids_of(_shortest_to_truth(scorer), scorer.ground)
    return (
        *references,
        Reference(
            "shortest_to_truth", "guide",
            "The shortest path by length from the start segment to the true last segment.",
            _scored(scorer, direct, oracle),
        ),
        Reference("truth", "ceiling", "The driven route itself.", _scored(scorer, routes, oracle)),
    )  # fmt: skip


def _scored(
    scorer: GenerationScorer, routes: pl.Series, oracle: bool, *, predicted: bool = True
) -> Scored:
    nothing = pl.lit(None, pl.List(pl.List(pl.String))).alias("candidates")
    rows = scorer.instances.with_columns(
        routes.alias("edge_ids"), nothing, pl.lit(predicted).alias("predicted")
    )
    return scorer.scored(Matched(rows, 0), oracle=oracle)


def _chance(scorer: GenerationScorer, seed: int) -> pl.Series | None:
    train = scorer.release.candidates("train").select("trip_id", "edge_ids").sort("trip_id")
    place = {trip: k for k, trip in enumerate(train["trip_id"])}
    picks = []
    for instance, trip in scorer.instances.select("instance_id", "trip_id").iter_rows():
        own = place.get(trip, len(place))
        others = len(place) - (trip in place)
        if others == 0:
            return None
        pick = int(rng_for(seed, "tasks chance", instance).integers(others))
        picks.append(pick + (pick >= own))
    return train["edge_ids"].gather(picks)


def _shortest_to_truth(scorer: GenerationScorer) -> Ragged:
    """Return the shortest drive from each start segment to the true last one, both included.

    The start segment alone where no drive leads there.
    """
    ground, first, last = scorer.ground, scorer.start, last_of(scorer.truth)
    ends = np.column_stack((ground.v[first], ground.u[last]))
    distinct, number = np.unique(ends, axis=0, return_inverse=True)
    paths = shortest_paths(ground, distinct[:, 0], distinct[:, 1])
    routes = []
    for k, n in enumerate(number.ravel()):
        between = paths.edges.values[paths.edges.starts[n] : paths.edges.starts[n + 1]]
        stay = first[k] == last[k] or np.isinf(paths.weight[n])
        routes.append([first[k]] if stay else [first[k], *between, last[k]])
    sizes = np.array([len(one) for one in routes], np.int64)
    return Ragged(np.concatenate(routes).astype(np.int32), np.concatenate(([0], np.cumsum(sizes))))
