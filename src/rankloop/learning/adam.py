"""Adam: gradient steps in which every parameter has a pace of its own."""

from __future__ import annotations

import numpy as np

from rankloop.types import FloatArray

MEAN, SQUARE = 0.9, 0.999  # how much of the moving averages is kept in a step
TINY = 1e-8


def adam(moments: FloatArray, gradient: FloatArray, steps: int) -> tuple[FloatArray, FloatArray]:
    r"""Find the direction of the next step, and the new moments, [2, ...].

    With moving averages $m$ of the gradient and $v$ of its square, both corrected for having started at
    zero, the direction is $m / (\sqrt{v} + \epsilon)$: it has no unit, so features of any scale can be
    learned from at the same rate. `steps` is how many were taken before.

    >>> direction, moments = adam(np.zeros((2, 2)), np.array([0.003, -400.0]), 0)
    >>> direction.round(4).tolist()
    [1.0, -1.0]

    Kingma, Ba: Adam: a method for stochastic optimization. ICLR 2015.
    """
    mean = MEAN * moments[0] + (1 - MEAN) * gradient
    square = SQUARE * moments[1] + (1 - SQUARE) * gradient * gradient
    pace = np.sqrt(square / (1 - SQUARE ** (steps + 1))) + TINY
    return mean / (1 - MEAN ** (steps + 1)) / pace, np.stack((mean, square))
