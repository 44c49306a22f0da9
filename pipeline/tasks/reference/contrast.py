"""Two encoders that learn to put a query near its trip: InfoNCE with a learned temperature.

    towers = Towers.trained(queries, trips, pairs, settings, seed=7)
    towers.of_queries(vectors), towers.of_trips(vectors)   ->  unit vectors, near if they belong

Each encoder is a layer, a ReLU and a layer on frozen features. A batch holds every trip once, with
one of its queries drawn anew each epoch: other queries of a trip are no negatives. Neither are
trips that drive the very same segments. Runs on the CPU on one thread: same seed, same numbers.
Sources: van den Oord et al. 2018 (InfoNCE); Radford et al. 2021 (a learned temperature, by which
cosines are multiplied at most 100 times); TrajPrism A.2.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.errors import SourceError
from pipeline.seeds import rng_for

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]

_MOST_SCALE = math.log(100.0)


class ContrastSettings(NamedTuple):
    """How two encoders are trained.

    Attributes:
        width: Numbers in the vectors they make.
        hidden: Numbers in between.
        epochs: How often each trip is seen.
        batch: Fewest trips of a step, 2 or more; all, where there are fewer.
        rate: Learning rate of AdamW at its height; it falls to 0 along a cosine.
        decay: Weight decay of AdamW.
        temperature: What cosines are divided by at first.
    """

    width: int = 256
    hidden: int = 512
    epochs: int = 100
    batch: int = 256
    rate: float = 1e-3
    decay: float = 0.01
    temperature: float = 0.07


class Pairs(NamedTuple):
    """Which queries are about which trips.

    Attributes:
        trip: Row of the trip of each query.
        route: Number of the route of each trip; equal for the very same segments.
    """

    trip: Ints
    route: Ints


class Towers(NamedTuple):
    """The trained encoders (PyTorch modules)."""

    queries: Any
    trips: Any

    @classmethod
    def trained(
        cls, queries: Floats, trips: Floats, pairs: Pairs, settings: ContrastSettings, *, seed: int
    ) -> "Towers":
        """Train two encoders.

        Args:
            queries: Features of the queries, one a row.
            trips: Features of the trips, one a row.
            pairs: Which belong together.
            settings: How.
            seed: Of weights and batches.

        Raises:
            SourceError: Fewer than two trips have a query.
        """
        import torch  # noqa: PLC0415 - an extra, and slow to import

        if len(np.unique(pairs.trip)) < 2:
            raise SourceError(
                "expected two trips with queries or more to train on, found fewer; give the model"
                " a release with trips in train"
            )
        with _reproducible(seed):
            towers = cls(_tower(queries.shape[1], settings), _tower(trips.shape[1], settings))
            scale = torch.nn.Parameter(torch.tensor(-math.log(settings.temperature)))
            weights = [*towers.queries.parameters(), *towers.trips.parameters()]
            optimizer = torch.optim.AdamW(
                [
                    {"params": weights, "weight_decay": settings.decay},
                    {"params": [scale], "weight_decay": 0.0},
                ],
                lr=settings.rate,
            )
            batches = list(_batches(pairs, settings, seed=seed))
            falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, len(batches))
            of_query, of_trip = (torch.tensor(one, dtype=torch.float32) for one in (queries, trips))
            for batch in batches:
                made = towers.queries(of_query[batch]), towers.trips(of_trip[pairs.trip[batch]])
                similar = _unit(made[0]) @ _unit(made[1]).T * scale.clamp(max=_MOST_SCALE).exp()
                loss = _info_nce(similar, torch.tensor(pairs.route[pairs.trip[batch]]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                falling.step()
        return towers

    def of_queries(self, features: Floats) -> Floats:
        """Return the vectors of queries, one a row."""
        return _made(self.queries, features)

    def of_trips(self, features: Floats) -> Floats:
        """Return the vectors of trips, one a row."""
        return _made(self.trips, features)


def _tower(features: int, settings: ContrastSettings) -> Any:
    from torch import nn  # noqa: PLC0415 - an extra, and slow to import

    return nn.Sequential(
        nn.Linear(features, settings.hidden),
        nn.ReLU(),
        nn.Linear(settings.hidden, settings.width),
    )


def _unit(vectors: Any) -> Any:
    from torch.nn.functional import normalize  # noqa: PLC0415 - an extra, and slow to import

    return normalize(vectors, dim=1)


def _info_nce(similar: Any, routes: Any) -> Any:
    """Return the mean loss of both directions: query to trip, trip to query.

    Args:
        similar: Similarities, queries by trips; those that belong together on the diagonal.
        routes: Number of the route of each trip.
    """
    import torch  # noqa: PLC0415 - an extra, and slow to import

    own = torch.arange(len(routes))
    twins = (routes[:, None] == routes[None, :]) & (own[:, None] != own[None, :])
    masked = similar.masked_fill(twins, -torch.inf)
    loss = torch.nn.functional.cross_entropy
    return (loss(masked, own) + loss(masked.T, own)) / 2


def _batches(pairs: Pairs, settings: ContrastSettings, *, seed: int) -> Iterator[Ints]:
    """Yield the queries of each step: of every trip one query an epoch, in random order."""
    by_trip = np.argsort(pairs.trip, kind="stable")
    trips, starts, counts = np.unique(pairs.trip[by_trip], return_index=True, return_counts=True)
    for epoch in range(settings.epochs):
        rng = rng_for(seed, "tasks.contrast", str(epoch))
        drawn = by_trip[starts + rng.integers(counts)][rng.permutation(len(trips))]
        # Larger batches rather than a last one of few: one trip alone has nothing to be told from.
        yield from np.array_split(drawn, max(1, len(drawn) // settings.batch))


def _made(tower: Any, features: Floats) -> Floats:
    import torch  # noqa: PLC0415 - an extra, and slow to import

    with torch.no_grad(), _reproducible(0):
        found = _unit(tower(torch.tensor(features, dtype=torch.float32)))
    return np.asarray(found.numpy(), np.float64)


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """Draw from a seed on one thread, and leave PyTorch as it was found."""
    import torch  # noqa: PLC0415 - an extra, and slow to import

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)
