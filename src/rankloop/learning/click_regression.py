r"""Logistic regression of clicks on contexts, with an intercept that nothing holds back.

$$\frac{1}{n} \sum_i \log\left(1 + e^{-y_i (w \cdot x_i + b)}\right) + \frac{\lambda}{2} \lVert w \rVert^2$$
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from rankloop.types import BoolArray, FloatArray

STEPS, CLOSE = 500, 1e-6


def fit_clicks(
    rows: FloatArray, clicks: BoolArray, regularisation: float, start: FloatArray | None = None
) -> FloatArray:
    """Find the intercept and the weights of least loss, [1 + d], by L-BFGS; there must be clicks and others.

    >>> rows = np.array([[0.0], [1.0], [1.0], [0.0]])
    >>> found = fit_clicks(rows, np.array([False, True, True, True]), 0.1)
    >>> bool(found[1] > 0)
    True
    """
    first = np.zeros(1 + rows.shape[1]) if start is None else start

    def objective(line: FloatArray) -> tuple[float, FloatArray]:
        margins = line[0] + rows @ line[1:]
        errors = (expit(margins) - clicks) / clicks.size
        loss = float((np.logaddexp(0.0, margins) - clicks * margins).mean())
        penalty = regularisation / 2 * float(line[1:] @ line[1:])
        return loss + penalty, np.concatenate(([errors.sum()], errors @ rows + regularisation * line[1:]))

    options = {"maxiter": STEPS, "gtol": CLOSE, "ftol": 1e-11}
    found: FloatArray = minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x
    return found
