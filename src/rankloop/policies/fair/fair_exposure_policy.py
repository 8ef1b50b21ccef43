"""What policies share that give every group its looks: an account, and lists that keep it near 0."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.exposure import LOOK, Ties, entitlements, fair_list
from rankloop.exposure.examination import Looks, check_looks, position_looks
from rankloop.exposure.fair_merge import LARGEST_TABLE
from rankloop.exposure.group_accounts import GroupCodes, balances, booked, check_shares, group_codes
from rankloop.exposure.template_swap import swap_list
from rankloop.learning.item_keys import KeyArray
from rankloop.policy import Policy
from rankloop.state_fields import state
from rankloop.types import BoolArray, FloatArray, IntArray, Query, Ranking

Due: TypeAlias = Literal["share", "attainable"]
Fill: TypeAlias = Literal["merge", "swap"]
Shares: TypeAlias = str | tuple[tuple[str, float], ...]


@dataclass(kw_only=True, eq=False)
class FairExposure(Policy):
    r"""A policy whose lists keep every group's account of exposure within a tolerance.

    Position $p$ of a list is worth $P(p)$ looks. Every list shown adds to the account of
    each group what it was granted, the looks of its positions, minus what was due to it, its share of all.
    With `beta` there are two groups, A and B, and

    $$UF_t = \sum_{s \le t} \bigl(\text{granted}_A - \beta\, \text{granted}_B\bigr)
    = (1 + \beta) \cdot \text{account}_A, \qquad \lvert UF_t \rvert \le \text{tolerance};$$

    with `shares` any number of groups, $\max_g \lvert \text{account}_g \rvert \le \text{tolerance}$. Of the
    lists that stay within it, the one with the fewest violated certain orders is shown; if there is none, the
    one that comes nearest.
    """

    unserved: ClassVar[str] = (
        "keeps its account by the lists that it is told of, and a service keeps that of a ranker by its log: "
        "serve pairrank with the ranker's fair setting"
    )

    beta: float | None = None
    shares: Shares = "equal"
    tolerance: float = 1.0
    looks: Looks = "log2"
    ties: Ties = "random"
    due: Due = "share"
    fill: Fill = "merge"
    groups: KeyArray = state((0,), np.uint64, feature_axes=())  # met, ascending
    account: IntArray = state((0,), np.int64, feature_axes=())  # of each, in millionths of a look

    def __post_init__(self) -> None:
        """Refuse rules that no list could follow."""
        super().__post_init__()
        if self.beta is not None and not 0 < self.beta < np.inf:
            raise SettingError(
                f"beta must be a positive ratio of two groups' looks, or None, found {self.beta}"
            )
        if self.beta is not None and self.shares != "equal":
            raise SettingError(f"beta gives two groups their shares: leave out one of it and {self.shares!r}")
        if not 0 <= self.tolerance < np.inf:
            raise SettingError(f"tolerance must be a number of looks of 0 or more, found {self.tolerance}")
        check_shares(self.shares)
        check_looks(self.looks)
        for name, choices in (
            ("ties", ("random", "least")),
            ("due", ("share", "attainable")),
            ("fill", ("merge", "swap")),
        ):
            if getattr(self, name) not in choices:
                raise SettingError(f"{name} must be {' or '.join(choices)}, found {getattr(self, name)!r}")

    def shown(self, ranking: Ranking) -> None:
        """Book what the list granted and what was due, whoever put it in this order."""
        query = ranking.query
        if not query.groups:
            return
        found, looks = self._groups_of(query), position_looks(self.looks, len(ranking))
        granted = np.bincount(found.codes[ranking.order], looks, minlength=len(found.names)).astype(np.int64)
        change = granted - self._due(found, looks)
        self.groups, self.account = booked(self.groups, self.account, found.keys, change)

    @abstractmethod
    def _deep_list(
        self, query: Query, codes: IntArray, certain: BoolArray, k: int, rng: np.random.Generator
    ) -> IntArray:
        """A list that respects the certain orders, with enough documents of every group."""

    @abstractmethod
    def _blocks_of(self, query: Query, certain: BoolArray) -> list[IntArray]:
        """Blocks of documents, best first, for the published way to fill a template."""

    def fair_order(self, query: Query, certain: BoolArray, *, k: int, rng: np.random.Generator) -> IntArray:
        """The list with the fewest violated certain orders that the accounts allow."""
        found, looks = self._groups_of(query), position_looks(self.looks, min(k, query.n_docs))
        ahead, due = balances(self.groups, self.account, found.keys), self._due(found, looks)
        if self.fill == "swap":
            return swap_list(
                self._blocks_of(query, certain),
                found.codes,
                certain,
                looks=looks,
                ahead=ahead,
                due=lambda _: due,
                tolerance=self._tolerance,
                rng=rng,
                ties=self.ties,
            ).order
        return fair_list(
            self._deep_list(query, found.codes, certain, k, rng),
            found.codes,
            certain,
            looks=looks,
            ahead=ahead,
            due=lambda count: due if count == len(looks) else self._due(found, looks[:count]),
            tolerance=self._tolerance,
            rng=rng,
            method="table" if len(found.names) ** len(looks) <= LARGEST_TABLE else "pages",
            ties=self.ties,
        ).order

    @property
    def _tolerance(self) -> int:
        """Of an account, in millionths of a look."""
        return int(self.tolerance / (1 + (self.beta or 0.0)) * LOOK)

    def _groups_of(self, query: Query) -> GroupCodes:
        return group_codes(query.groups, [name for name, _ in self._named_shares()])

    def _named_shares(self) -> tuple[tuple[str, float], ...]:
        """The shares of groups with a name; none, if every list has its own."""
        if self.beta is not None:
            return ("A", self.beta), ("B", 1.0)
        return self.shares if isinstance(self.shares, tuple) else ()

    def _due(self, found: GroupCodes, looks: IntArray) -> IntArray:
        shares = np.array([share for _, share in self._named_shares()])
        if not shares.size:
            shares = found.counts if self.shares == "candidates" else np.ones(len(found.names))
        counts = found.counts if self.due == "attainable" else np.full(len(found.names), len(looks))
        return entitlements(_as_floats(shares), looks, counts)


def _as_floats(shares: FloatArray | IntArray) -> FloatArray:
    return np.asarray(shares, dtype=np.float64)
