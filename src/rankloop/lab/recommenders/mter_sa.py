"""MTER-SA: canonical decompositions in which everything is shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankloop.lab.recommenders.mter_s import MTERS, Modes


@dataclass(kw_only=True, eq=False)
class MTERSA(MTERS):
    r"""MTER with canonical decompositions that share everything.

    $\hat X = \sum_r U I F$, $\hat Y^U = \sum_r U F W$, $\hat Y^I = \sum_r I F W$.

    >>> import numpy as np
    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=30, items=24).reviews()
    >>> model = MTERSA(iterations=20).fit(reviews, np.random.default_rng(0))
    >>> model.users_x.size
    0
    """

    modes: ClassVar[tuple[Modes, Modes, Modes]] = (
        (("users",), ("items",), ("features",)),
        (("users",), ("features",), ("words",)),
        (("items",), ("features",), ("words",)),
    )
