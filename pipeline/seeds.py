"""Random streams that depend on the item alone, never on order, shard or worker.

rng_for(7, "simulate", "trip-000012").integers(10)  ->  the same number in every run
"""

import hashlib

import numpy as np


def rng_for(seed: int, stage: str, item_id: str) -> np.random.Generator:
    """Return the random generator of one item in one stage.

    Args:
        seed: The data set's seed (`seed` in params.yaml).
        stage: Name of the stage that draws; two stages never share a stream.
        item_id: Id of the item; adding or removing other items changes no draw of this one.
    """
    digest = hashlib.blake2b(f"{seed}\x1f{stage}\x1f{item_id}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
