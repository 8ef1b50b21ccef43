"""FairCo: a proportional controller that lifts the group whose exposure is behind its merit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankloop.bounds import NonNegative
from rankloop.errors import RankingError, SettingError
from rankloop.exploration import draw_by_score
from rankloop.exposure import VIEW, views_at
from rankloop.exposure.group_accounts import (
    GroupCodes,
    add_balances,
    check_shares,
    group_codes,
    read_balances,
)
from rankloop.lab.baselines.ips import IPS, with_constant
from rankloop.learning.item_keys import KeyArray, item_key
from rankloop.state_fields import state
from rankloop.types import Array, FloatArray, IntArray, Query, Ranking

LEAST_MERIT = 0.01  # an estimate may be below 0, and nothing can be divided by it


@dataclass(kw_only=True, eq=False)
class FairCo(IPS):
    r"""IPS, and a bonus for all documents of a group that was looked at too little.

    $$\text{score}(d) = \hat R(d) + \text{control} \cdot \text{err}(g(d)), \qquad
    \text{err}(g) = \max_h \frac{E_h}{M_h} - \frac{E_g}{M_g}.$$

    $E_g$ is the exposure of a group so far: with `exposure="mean"`, as in the paper, that of one of its
    candidates on average, times the number of lists; with `"total"` that of all of them, which is what the
    thesis about FairExp measures. $M_g$ is the merit of one of its candidates on average, *estimated* from
    all that were seen, or given for each group: `merit=(('A',1.22),('B',1.0))`.

    >>> policy, rng = FairCo(exposure="total", merit=(("A", 1.0), ("B", 1.0))), np.random.default_rng(0)
    >>> query = Query("q", np.eye(4), groups=("A", "A", "A", "B"))
    >>> for _ in range(40):
    ...     policy.shown(policy.rank(query, k=2, rng=rng))
    >>> shares = policy.received / policy.received.sum()
    >>> bool(abs(shares - 0.5).max() < 0.1)
    True

    Morik, Singh, Hong, Joachims: Controlling fairness and bias in dynamic learning-to-rank. SIGIR 2020.
    """

    refused_in_service = (
        "keeps exposure by the lists that it is told of, and a service keeps that of a ranker by its log: "
        "serve pairrank with the ranker's fair setting"
    )

    control: NonNegative = 0.1
    exposure: Literal["mean", "total"] = "mean"
    merit: Literal["estimated"] | tuple[tuple[str, float], ...] = "estimated"
    groups: KeyArray = state((0,), np.uint64, feature_axes=())  # met, ascending
    received: IntArray = state((0,), np.int64, feature_axes=())  # to each, in millionths of a view
    candidates: IntArray = state((0,), np.int64, feature_axes=())  # of each, in all lists
    features: FloatArray = state((0, 0), feature_axes=(1,), leading=1)  # of each, summed over these
    lists: Array = state(dtype=np.int64)

    def __post_init__(self) -> None:
        """Refuse merits without a meaning."""
        super().__post_init__()
        if self.merit != "estimated":
            check_shares(self.merit)
            if not all(merit > 0 for _, merit in self.merit):
                raise SettingError(f"merit must be positive for each group, found {self.merit!r}")

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Rank the best first, after the bonus."""
        scores = self.score(query)
        if query.groups and self.control:
            found = group_codes(query.groups)
            scores = scores + self.control * self._errors(found)[found.codes]
        return Ranking(query, draw_by_score(scores, k, rng))

    def shown(self, ranking: Ranking) -> None:
        """Add what every group received, and the candidates it had."""
        query = ranking.query
        if not (query.groups and query.features.shape[1]):
            return  # without features all are alike, and there is no merit to speak of
        found, views = group_codes(query.groups), views_at(self.examination, len(ranking))
        m, rows = len(found.names), with_constant(query.features)
        received = np.bincount(found.codes[ranking.order], views, minlength=m).astype(np.int64)
        sums = np.stack([rows[found.codes == group].sum(axis=0) for group in range(m)])
        before, kept = self.groups, self.features if self.features.size else np.zeros((0, rows.shape[1]))
        if kept.shape[1] != rows.shape[1]:
            raise RankingError(
                f"this ranker knows {kept.shape[1] - 1} features but the query has {rows.shape[1] - 1}"
            )
        _, self.received = add_balances(before, self.received, found.keys, received)
        _, self.candidates = add_balances(before, self.candidates, found.keys, found.counts)
        self.groups, self.features = add_balances(before, kept, found.keys, sums)
        self.lists = self.lists + 1

    def _errors(self, found: GroupCodes) -> FloatArray:
        """How far each group of a list is behind the one that is farthest ahead, [m]."""
        ratios = self._ratios()
        own = read_balances(self.groups, ratios, found.keys)
        return max(float(ratios.max(initial=0.0)), 0.0) - own

    def _ratios(self) -> FloatArray:
        """Exposure over merit of every group met."""
        exposure = self.received / VIEW
        if self.exposure == "mean":
            exposure = exposure * int(self.lists) / np.maximum(self.candidates, 1)
        return exposure / self._merits()

    def _merits(self) -> FloatArray:
        if not isinstance(self.merit, str):
            keys = np.array([item_key(name) for name, _ in self.merit], dtype=np.uint64)
            order, values = keys.argsort(), np.array([merit for _, merit in self.merit])
            given = read_balances(keys[order], values[order], self.groups)
            return np.where(given > 0, given, 1.0)
        if not (self.parameters.size and self.groups.size):
            return np.ones(self.groups.size)
        means = self.features / np.maximum(self.candidates, 1)[:, None]
        return np.maximum(means @ self.parameters, LEAST_MERIT)
