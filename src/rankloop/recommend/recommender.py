"""Recommender contract: settings are fields, what was learned is arrays, and scores split into parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from rankloop.bounds import check_settings
from rankloop.errors import SettingError
from rankloop.recommend.factorization_tree import FactorizationTree
from rankloop.recommend.reviews import Reviews
from rankloop.types import FloatArray, IntArray, State

SourceKind: TypeAlias = Literal["rule", "past item", "popularity", "model"]
EMPTY = np.zeros(0, np.int64)


def learned(shape: tuple[int, ...] = (0,), dtype: npt.DTypeLike = np.float64) -> Any:
    """Make a field that `fit` fills: an array, empty until then."""
    return field(default_factory=partial(np.zeros, shape, dtype), init=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UserProfile:
    """What a recommender knows of one person: past items, answers to questions, and the vector they make.

    Answers are by question: 1 *much*, -1 *little*, 0 skipped. `row` is that of a user who was learned from.
    """

    vector: FloatArray
    items: IntArray = field(default_factory=lambda: EMPTY)  # past items
    answers: Mapping[int, int] = field(default_factory=dict)
    node: int = 0  # of the question tree, where there is one
    row: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """Something that adds to scores: a rule, a past item, popularity, or the model as a whole."""

    kind: SourceKind
    index: int = -1  # the past item, or the question of a rule; -1: no particular one
    answer: str = ""  # that the rule is about: much, little, unknown, liked, disliked, unrated


@dataclass(frozen=True, slots=True, eq=False)
class ScoreParts:
    """The scores of some items for one person, split by what they come from.

    >>> sources = (ScoreSource("rule", 2, "much"), ScoreSource("past item", 7), ScoreSource("past item", 8))
    >>> parts = ScoreParts(sources, np.array([[0.2, 0.3, 0.1]]), exact=True)
    >>> parts.sum_kind("past item").tolist(), parts.scores.round(6).tolist()
    ([0.4], [0.6])
    """

    sources: tuple[ScoreSource, ...]
    amounts: FloatArray  # [n_items, n_sources]
    exact: bool  # rows sum to the scores: nothing else went into them

    @property
    def scores(self) -> FloatArray:
        """The sums of the rows, [n_items]."""
        return np.asarray(self.amounts.sum(axis=1))

    def sum_kind(self, kind: SourceKind) -> FloatArray:
        """Sum what sources of a kind add to each score, [n_items]."""
        return np.asarray(self.amounts[:, [source.kind == kind for source in self.sources]].sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTree:
    """A tree of questions about users, and where everyone who was learned from stands in it."""

    tree: FactorizationTree
    leaves: IntArray  # [n_users]
    about_items: bool = False  # columns are items; otherwise they are features, then title words


@dataclass(kw_only=True, eq=False)
class Recommender(ABC):
    """Scores items for people, and splits its scores into parts.

    A recommender is a dataclass whose ordinary fields are its settings; fields made by `learned(...)` are
    what `fit` learns, as arrays. `fit` returns a fitted copy and changes nothing; the same generator gives
    the same copy. `score_users` is for users by row; everybody has a profile, which `score_profile` scores.
    """

    exact: ClassVar[bool] = False  # the parts of its scores sum to them
    places_newcomers: ClassVar[bool] = False  # it has profiles of people whom it has not learned from

    past_items: IntArray = learned((0,), np.int64)  # the items of all users, one user after the other
    past_starts: IntArray = learned((1,), np.int64)  # [n_users + 1]

    def __post_init__(self) -> None:
        """Refuse settings outside their bounds."""
        check_settings(self)

    def fit(self, reviews: Reviews, rng: np.random.Generator) -> Self:
        """Return a copy that has learned from these reviews."""
        if not len(reviews):
            raise SettingError("there are no reviews to learn from")
        fitted = self._twin()
        fitted._keep_past_items(reviews)
        fitted._learn(reviews, rng)
        return fitted

    def with_users_of(self, reviews: Reviews) -> Self:
        """Return a copy that knows the users of these reviews instead, all of them newcomers."""
        n_items = self.score_users(EMPTY).shape[1]
        if reviews.n_items != n_items:
            raise SettingError(
                f"{type(self).__name__} has learned from reviews of {n_items} items, found reviews of "
                f"{reviews.n_items}: users can only be known of the same shop"
            )
        twin = self._twin()
        twin._keep_past_items(reviews)
        twin._place_users(reviews)
        return twin

    @abstractmethod
    def score_users(self, users: IntArray) -> FloatArray:
        """Score all items for these users, [n, n_items]; higher is better."""

    @abstractmethod
    def score_profile(self, profile: UserProfile) -> FloatArray:
        """Score all items for one person, [n_items]."""

    def profile_user(self, user: int) -> UserProfile:
        """Return the profile of a user who was learned from, by row."""
        n_users, row = len(self.past_starts) - 1, _as_number(user)
        if row is None or not 0 <= row < n_users:
            raise SettingError(f"users are whole numbers from 0 to {n_users - 1}, found {user!r}")
        return self._profile_row(row)

    @abstractmethod
    def _profile_row(self, user: int) -> UserProfile:
        """Return the profile of a user who is there."""

    def profile_newcomer(
        self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None
    ) -> UserProfile:
        """Make the profile of a newcomer from past items and answers; many models cannot."""
        del items, answers
        raise SettingError(
            f"{type(self).__name__} knows only users it has learned from; for newcomers use EvidenceALS, "
            "IALS, FacT or FMF"
        )

    def split_scores(self, profile: UserProfile, items: IntArray) -> ScoreParts:
        """Split the scores of these items by what they come from; here that is the model as a whole."""
        scores = self.score_profile(profile)[items]
        return ScoreParts((ScoreSource("model"),), scores[:, None], exact=False)

    def score_features(self, profile: UserProfile, items: IntArray) -> FloatArray:
        """Score the features of these items for one person, [n_items, n_features]; many models cannot."""
        del profile, items
        raise SettingError(f"{type(self).__name__} says nothing about features; use MTER, EFM or FacT")

    def question_tree(self) -> QuestionTree | None:
        """Return the tree of questions that an interview asks, if there is one."""
        return None

    def past(self, user: int) -> IntArray:
        """Return the items that a user reviewed."""
        return self.past_items[self.past_starts[user] : self.past_starts[user + 1]]

    def state(self) -> State:
        """Return everything learned, as named arrays."""
        return {each.name: np.array(getattr(self, each.name)) for each in fields(self) if not each.init}

    def from_state(self, state: State) -> Self:
        """Return a recommender with these settings that has learned that."""
        names = {each.name for each in fields(self) if not each.init}
        if set(state) != names:
            raise SettingError(f"{type(self).__name__} has learned {sorted(names)}, found {sorted(state)}")
        twin = self._twin()
        for name, value in state.items():
            setattr(twin, name, np.array(value))
        return twin

    @abstractmethod
    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        """Fill the learned fields of a fresh copy."""

    def _place_users(self, reviews: Reviews) -> None:
        """Compute what is known of users whom nothing was learned from; many models cannot."""
        del reviews
        self.profile_newcomer()

    def _keep_past_items(self, reviews: Reviews) -> None:
        rows = reviews.rating_matrix()
        rows.sort_indices()
        self.past_items, self.past_starts = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)

    def _twin(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin


@dataclass(kw_only=True, eq=False)
class FactorModel(Recommender):
    """A recommender whose score is the product of a user's vector and an item's."""

    user_factors: FloatArray = learned((0, 0))  # [n_users, d]
    item_factors: FloatArray = learned((0, 0))  # [n_items, d]

    def score_users(self, users: IntArray) -> FloatArray:
        """Multiply the users' vectors with all items' vectors."""
        return np.asarray(self.user_factors[users] @ self.item_factors.T)

    def score_profile(self, profile: UserProfile) -> FloatArray:
        """Multiply one vector with all items' vectors."""
        return np.asarray(self.item_factors @ profile.vector)

    def _profile_row(self, user: int) -> UserProfile:
        return UserProfile(vector=self.user_factors[user], items=self.past(user), row=user)


def require_row(profile: UserProfile) -> int:
    """Return the row of a user who was learned from; refuse newcomers."""
    if profile.row is None:
        raise SettingError("only users who were learned from can be compared with features, found a newcomer")
    return profile.row


def check_items(items: Sequence[int] | IntArray, n_items: int) -> IntArray:
    """Return the items that someone has, each once, in the order given; refuse what is no item.

    >>> check_items([3, 1, 3], 4).tolist()
    [3, 1]
    """
    return np.array(list(dict.fromkeys(check_rows(items, n_items).tolist())), np.int64)


def check_rows(items: Sequence[int] | IntArray, n_items: int) -> IntArray:
    """Return the numbers of items as they are given; refuse what is no item."""
    numbers = np.asarray(items)
    if not numbers.size and numbers.ndim == 1:
        return EMPTY
    whole = numbers.ndim == 1 and numbers.dtype.kind in "iu"
    if not whole or not 0 <= numbers.min() <= numbers.max() < n_items:
        raise SettingError(f"items are whole numbers from 0 to {n_items - 1}, found {_shorten(items)}")
    return numbers.astype(np.int64)


def check_answers(answers: Mapping[int, int] | None, n_questions: int | None = None) -> dict[int, int]:
    """Return answers by question; refuse questions that cannot be asked, and what is no answer.

    Models without questions take any; they change nothing.

    >>> check_answers({2: 1, 0: -1}, 3)
    {2: 1, 0: -1}
    """
    given: object = {} if answers is None else answers
    questions = "whole numbers" if n_questions is None else f"questions from 0 to {n_questions - 1}"
    last = np.inf if n_questions is None else n_questions - 1
    pairs = given.items() if isinstance(given, Mapping) else [(None, None)]
    found = {
        number: said
        for number, said in ((_as_number(question), _as_number(answer)) for question, answer in pairs)
        if number is not None and 0 <= number <= last and said is not None and -1 <= said <= 1
    }
    if len(found) == len(pairs):
        return found
    raise SettingError(
        f"answers are 1 (much), -1 (little) or 0 (skipped) to {questions}, found {_shorten(given)}"
    )


def _as_number(value: object) -> int | None:
    """Return a whole number as one of Python; None for anything else, also for True and 1.0."""
    return None if isinstance(value, bool) or not isinstance(value, int | np.integer) else int(value)


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
