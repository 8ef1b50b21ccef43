"""What policies share that give every group its views: an account, and lists that keep it near 0."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankloop.bounds import NonNegative, Positive
from rankloop.errors import SettingError
from rankloop.exposure import (
    VIEW,
    AccountRule,
    Examination,
    Ties,
    check_examination,
    due_views,
    merge_fairly,
    split_into_pages,
    views_at,
)
from rankloop.exposure.fair_merge import LARGEST_TABLE
from rankloop.exposure.group_accounts import (
    GroupCodes,
    add_balances,
    check_shares,
    group_codes,
    read_balances,
)
from rankloop.learning.item_keys import KeyArray
from rankloop.policy import Policy
from rankloop.state_fields import state
from rankloop.types import BoolArray, IntArray, Query, Ranking

Due: TypeAlias = Literal["share", "attainable"]
Shares: TypeAlias = Literal["equal", "candidates"] | tuple[tuple[str, float], ...]


@dataclass(kw_only=True, eq=False)
class FairExposurePolicy(Policy):
    r"""A policy whose lists keep every group's account of exposure within a tolerance.

    Position $p$ of a list is worth $P(p)$ views. Every list shown adds to the account of each group what it
    received, the views at its positions, minus what was due to it, its share of all. With `beta` there are
    two groups, A and B, and

    $$UF_t = \sum_{s \le t} \bigl(\text{received}_A - \beta\, \text{received}_B\bigr)
    = (1 + \beta) \cdot \text{account}_A, \qquad \lvert UF_t \rvert \le \text{tolerance};$$

    with `shares` any number of groups, $\max_g \lvert \text{account}_g \rvert \le \text{tolerance}$. Of the
    lists that stay within it, the one with the fewest violated certain orders is shown; if there is none, the
    one that comes nearest.
    """

    refused_in_service = (
        "keeps its account by the lists that it is told of, and a service keeps that of a ranker by its log: "
        "serve pairrank with the ranker's fair setting"
    )

    beta: Positive | None = None
    shares: Shares = "equal"
    tolerance: NonNegative = 1.0
    examination: Examination = "log2"
    ties: Ties = "random"
    due: Due = "share"
    groups: KeyArray = state((0,), np.uint64, feature_axes=())  # met, ascending
    account: IntArray = state((0,), np.int64, feature_axes=())  # of each, in millionths of a view

    def __post_init__(self) -> None:
        """Refuse rules that no list could follow."""
        super().__post_init__()
        if self.beta is not None and self.shares != "equal":
            raise SettingError(f"beta gives two groups their shares: leave out one of it and {self.shares!r}")
        check_shares(self.shares)
        check_examination(self.examination)

    def shown(self, ranking: Ranking) -> None:
        """Add what the list gave and what was due to the accounts, whoever put it in this order."""
        query = ranking.query
        if not query.groups:
            return
        found, views = self.groups_of(query), views_at(self.examination, len(ranking))
        received = np.bincount(found.codes[ranking.order], views, minlength=len(found.names)).astype(np.int64)
        change = received - self._due(found, views)
        self.groups, self.account = add_balances(self.groups, self.account, found.keys, change)

    def groups_of(self, query: Query) -> GroupCodes:
        """Find the groups that take part in a list: those with a share, or those of the candidates."""
        return group_codes(query.groups, [name for name, _ in self._named_shares()])

    def account_rule(self, groups: GroupCodes, k: int) -> AccountRule:
        """Say what the next list with candidates of these groups must keep to."""
        views, m = views_at(self.examination, min(k, len(groups.codes))), len(groups.names)
        due, length = self._due(groups, views), len(views)
        return AccountRule(
            views=views,
            ahead=read_balances(self.groups, self.account, groups.keys),
            due=lambda p: due if p == length else self._due(groups, views[:p]),
            tolerance=int(self.tolerance / (1 + (self.beta or 0.0)) * VIEW),
            pages=[[length]] if m**length <= LARGEST_TABLE else split_into_pages(length, m),
        )

    def fair_order(self, query: Query, certain: BoolArray, *, k: int, rng: np.random.Generator) -> IntArray:
        """Find the list with the fewest violated certain orders that the accounts allow."""
        groups = self.groups_of(query)
        rule = self.account_rule(groups, k)
        drawn = self._draw_deep(query, groups.codes, certain, k, rng)
        return merge_fairly(drawn, groups.codes, certain, rule, rng=rng, ties=self.ties).order

    @abstractmethod
    def _draw_deep(
        self, query: Query, codes: IntArray, certain: BoolArray, k: int, rng: np.random.Generator
    ) -> IntArray:
        """Draw a list that respects the certain orders, with enough documents of every group."""

    def _named_shares(self) -> tuple[tuple[str, float], ...]:
        """List the shares of groups with a name; none, if every list has its own."""
        if self.beta is not None:
            return ("A", self.beta), ("B", 1.0)
        return self.shares if isinstance(self.shares, tuple) else ()

    def _due(self, groups: GroupCodes, views: IntArray) -> IntArray:
        shares = np.array([share for _, share in self._named_shares()], dtype=np.float64)
        if not shares.size:
            by_candidates = self.shares == "candidates"
            shares = groups.counts.astype(np.float64) if by_candidates else np.ones(len(groups.names))
        counts = groups.counts if self.due == "attainable" else np.full(len(groups.names), len(views))
        return due_views(shares, views, counts)
