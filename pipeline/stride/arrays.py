"""Names for the arrays of this chapter: T frames, N agents, always in that order.

positions: Floats of shape (T, N, 2)  ->  positions[3, 5] is where agent 5 stands in frame 3
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
