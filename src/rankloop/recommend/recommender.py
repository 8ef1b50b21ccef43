"""Recommender contract: settings are fields, what was learned is named arrays, and scores have reasons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.recommend.reasons import Kind, Part, Reasons
from rankloop.recommend.reviews import Reviews, SparseArray
from rankloop.types import Array, FloatArray, IntArray, State

EMPTY = np.zeros(0, np.int64)


def learned(shape: tuple[int, ...] = (0,), dtype: npt.DTypeLike = np.float64) -> Any:
    """A field that `fit` fills: an array, empty until then."""
    return field(default_factory=partial(np.zeros, shape, dtype), init=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Taste:
    """What a recommender knows of one person: past items, answers to questions, and the vector they make.

    Answers are by feature: +1 *much*, -1 *little*. `given` is whatever else its maker needs for reasons.
    """

    vector: FloatArray
    items: IntArray = field(default_factory=lambda: EMPTY)  # past items
    answers: Mapping[int, int] = field(default_factory=dict)
    given: Mapping[str, Array] = field(default_factory=dict)


@dataclass(kw_only=True, eq=False)
class Recommender(ABC):
    """Scores items for people, and says why.

    A recommender is a dataclass whose ordinary fields are its settings; fields made by `learned(...)` are
    what `fit` learns, as arrays. `fit` gives a fitted copy and changes nothing, and the same generator
    gives the same copy. `score` is for users by row, `taste` is for newcomers; both are scored by
    `score_tastes`.
    """

    name: ClassVar[str] = ""
    exact: ClassVar[bool] = False  # the parts of its reasons sum to the score

    past_items: IntArray = learned((0,), np.int64)  # the items of all users, one user after the other
    past_starts: IntArray = learned((1,), np.int64)  # [n_users + 1]

    def fit(self, reviews: Reviews, rng: np.random.Generator) -> Self:
        """A copy that has learned from these reviews."""
        if not len(reviews):
            raise SettingError("there are no reviews to learn from")
        fitted = self._twin()
        fitted._remember(reviews)
        fitted._learn(reviews, rng)
        return fitted

    def _remember(self, reviews: Reviews) -> None:
        """Keep who reviewed what."""
        rows = sparse.csr_array(reviews.matrix())
        rows.sort_indices()
        self.past_items, self.past_starts = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)

    @abstractmethod
    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        """Fill the learned fields of a fresh copy."""

    @abstractmethod
    def score(self, users: IntArray) -> FloatArray:
        """How much these users would like each item, [n, n_items]; higher is better."""

    @abstractmethod
    def score_taste(self, taste: Taste) -> FloatArray:
        """How much someone of this taste would like each item, [n_items]."""

    @abstractmethod
    def taste_of(self, user: int) -> Taste:
        """The taste of a user that was learned from."""

    def taste(self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None) -> Taste:
        """The taste of a newcomer, from items that they have and from answers; many models know none."""
        del items, answers
        raise SettingError(
            f"{self.name or type(self).__name__} knows only users it has learned from; for newcomers use "
            "evidence-als, ials, fact or fmf"
        )

    def knowing(self, reviews: Reviews) -> Self:
        """A copy that knows the users of these reviews instead, all of them newcomers to what was learned."""
        twin = self._twin()
        twin._remember(reviews)
        twin._meet(reviews)
        return twin

    def _meet(self, reviews: Reviews) -> None:
        """Vectors of users whom nothing was learned from; many models know none."""
        del reviews
        self.taste()

    def reasons(self, taste: Taste, item: int) -> Reasons:
        """Why the item has its score: here nothing but the score itself."""
        score = float(self.score_taste(taste)[item])
        return Reasons(item=item, score=score, parts=(Part("model", -1, score),), exact=False)

    def amounts(self, taste: Taste, items: IntArray) -> Mapping[Kind, FloatArray]:
        """What the parts of each kind add to the scores of these items, [n] each; they sum to the scores."""
        return {"model": self.score_taste(taste)[items]}

    def aspect_scores(self, users: IntArray, items: IntArray) -> FloatArray:
        """What features matter to these users in these items, [n, n_features]; many models know none."""
        del users, items
        raise SettingError(
            f"{self.name or type(self).__name__} says nothing about features; use mter, efm or fact"
        )

    def past(self, user: int) -> IntArray:
        """The items that a user reviewed."""
        return self.past_items[self.past_starts[user] : self.past_starts[user + 1]]

    def state(self) -> State:
        """Everything learned, as named arrays."""
        return {each.name: np.array(getattr(self, each.name)) for each in fields(self) if not each.init}

    def from_state(self, state: State) -> Self:
        """A recommender with these settings that has learned that."""
        names = {each.name for each in fields(self) if not each.init}
        if set(state) != names:
            raise SettingError(f"{type(self).__name__} has learned {sorted(names)}, found {sorted(state)}")
        twin = self._twin()
        for name, value in state.items():
            setattr(twin, name, np.array(value))
        return twin

    def _twin(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin


@dataclass(kw_only=True, eq=False)
class FactorModel(Recommender):
    """A recommender whose score is the product of a user's vector and an item's."""

    user_factors: FloatArray = learned((0, 0))  # [n_users, d]
    item_factors: FloatArray = learned((0, 0))  # [n_items, d]

    def score(self, users: IntArray) -> FloatArray:
        """Products of the users' vectors with all items' vectors."""
        return np.asarray(self.user_factors[users] @ self.item_factors.T)

    def score_taste(self, taste: Taste) -> FloatArray:
        """Products of one vector with all items' vectors."""
        return np.asarray(self.item_factors @ taste.vector)

    def taste_of(self, user: int) -> Taste:
        """The learned vector of a user."""
        return Taste(vector=self.user_factors[user], items=self.past(user))


def known_items(items: Sequence[int] | IntArray, n_items: int) -> IntArray:
    """The items that someone has, each once, in the order given; there must be such items.

    >>> known_items([3, 1, 3], 4).tolist()
    [3, 1]
    """
    numbers = np.asarray(items) if len(items) else EMPTY
    if numbers.dtype.kind not in "iu" or not ((numbers >= 0) & (numbers < n_items)).all():
        raise SettingError(f"items are whole numbers from 0 to {n_items - 1}, found {list(items)}")
    return np.array(list(dict.fromkeys(numbers.tolist())), np.int64)


def known_answers(answers: Mapping[int, int] | None, n_columns: int) -> dict[int, int]:
    """Answers by column of a profile: 1 much, -1 little."""
    said = dict(answers or {})
    if not all(0 <= column < n_columns and answer in (-1, 1) for column, answer in said.items()):
        raise SettingError(
            f"answers are 1 (much) or -1 (little) to questions from 0 to {n_columns - 1}, found {said}"
        )
    return said


def ones_like(matrix: SparseArray) -> SparseArray:
    """The same cells, each with 1."""
    return sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
