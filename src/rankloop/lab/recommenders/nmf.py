"""NMF: a non-negative matrix factorization of the ratings."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.bounds import Natural, Probability
from rankloop.lab.recommenders.efm import EFM


@dataclass(kw_only=True, eq=False)
class NMF(EFM):
    r"""$A \approx U V^\top$ on observed ratings, $U, V \ge 0$: EFM without explicit factors.

    >>> import numpy as np
    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=30, items=24).reviews()
    >>> model = NMF(latent=4, iterations=5).fit(reviews, np.random.default_rng(0))
    >>> bool((model.users >= 0).all())
    True

    Lee, Seung: Algorithms for non-negative matrix factorization. NIPS 2000.
    """

    explicit: Natural = 0
    latent: Natural = 20
    alpha: Probability = 0.0
