"""Time a library's distances of point sequences, in the interpreter that has it.

    python bench/peers/point_distances.py pairs.npz dtaidistance
    ->  {"dtw": {"values": [412.5, ...], "cpu_s": 0.1}}

`pairs.npz` holds one and other: (pairs, points, 2) metres in a plane.
"""

import json
import sys
import time
from collections.abc import Callable

import numpy as np


def _dtaidistance() -> dict[str, Callable[[np.ndarray, np.ndarray], float]]:
    from dtaidistance import dtw_ndim  # noqa: PLC0415 - each peer may be missing

    return {"dtw": lambda a, b: dtw_ndim.distance_fast(a, b, inner_dist="euclidean")}


def _traj_dist_rs() -> dict[str, Callable[[np.ndarray, np.ndarray], float]]:
    import traj_dist_rs as peer  # noqa: PLC0415 - each peer may be missing

    return {
        "dtw": lambda a, b: peer.dtw(a, b, "euclidean").distance,
        "hausdorff": lambda a, b: peer.hausdorff(a, b, "euclidean"),
        "edr": lambda a, b: peer.edr(a, b, "euclidean", 100.0).distance,
    }


PEERS = {"dtaidistance": _dtaidistance, "traj_dist_rs": _traj_dist_rs}

if __name__ == "__main__":
    pairs = np.load(sys.argv[1])
    one, other = (np.ascontiguousarray(pairs[name]) for name in ("one", "other"))
    found = {}
    for name, distance in PEERS[sys.argv[2]]().items():
        distance(one[0], other[0])
        start = time.process_time()
        values = [float(distance(a, b)) for a, b in zip(one, other, strict=True)]
        found[name] = {"values": values, "cpu_s": time.process_time() - start}
    print(json.dumps(found))
