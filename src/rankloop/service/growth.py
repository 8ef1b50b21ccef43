"""Features of a list, fitted to a policy that has learned with more or with fewer."""

from __future__ import annotations

import numpy as np

from rankloop.types import FloatArray


def fitted(raw: FloatArray, width: int) -> FloatArray:
    """Features of a list for a policy of this width: the last ones are missing, or left out.

    >>> fitted(np.ones((1, 1)), 2).tolist(), fitted(np.ones((1, 2)), 1).tolist()
    ([[1.0, nan]], [[1.0]])
    """
    if raw.shape[1] >= width:
        return raw[:, :width]
    return np.pad(raw, ((0, 0), (0, width - raw.shape[1])), constant_values=np.nan)
