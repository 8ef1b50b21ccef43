"""Reviews: who rated what, which features of it they mention, and what is known of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from rankloop.errors import DataError
from rankloop.types import BoolArray, FloatArray, IntArray

SparseArray: TypeAlias = Any  # scipy.sparse.csr_array, which has no types

NO_WORD = -1
NO_SENTENCE = -1

__all__ = ["NO_SENTENCE", "NO_WORD", "Mentions", "Reviews", "SparseArray", "binarize"]


def _none() -> IntArray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Mentions:
    """Features that reviews mention, each with a sentiment and, where known, the word and the sentence.

    >>> Mentions(np.array([0]), np.array([3]), np.array([1])).word.tolist()
    [-1]
    """

    review: IntArray = field(default_factory=_none)  # [n_mentions] row of the review
    feature: IntArray = field(default_factory=_none)  # [n_mentions]
    sentiment: IntArray = field(default_factory=_none)  # [n_mentions] +1 or -1
    word: IntArray = field(default_factory=_none)  # [n_mentions] opinion word, -1 if it is not known
    sentence: IntArray = field(default_factory=_none)  # [n_mentions] where it is said, -1 if not known

    def __post_init__(self) -> None:
        """Fill in unknown words and sentences, and refuse mentions that say nothing."""
        for name, unknown in (("word", NO_WORD), ("sentence", NO_SENTENCE)):
            if not len(getattr(self, name)) and len(self.review):
                object.__setattr__(self, name, np.full(len(self.review), unknown))
        for each in fields(self):
            _check_numbers(f"the {each.name} of mentions", getattr(self, each.name), "iu")
        sizes = {len(getattr(self, each.name)) for each in fields(self)}
        if len(sizes) > 1:
            raise DataError(f"mentions must have one value of each kind, found {sorted(sizes)} values")
        if not np.isin(self.sentiment, (-1, 1)).all():
            raise DataError(f"a sentiment must be 1 or -1, found {np.unique(self.sentiment).tolist()}")

    def __len__(self) -> int:
        return len(self.review)

    def select(self, keep: BoolArray) -> Mentions:
        """Return these mentions only."""
        return Mentions(*(getattr(self, each.name)[keep] for each in fields(self)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reviews:
    """Ratings of items by users, with what the reviews mention and what is known of the items.

    Users, items, features, words and tokens are numbered from 0 in the order of their names. A user reviews
    an item once. Parts of a collection share all names, so a row means the same in each of them.

    >>> reviews = Reviews(
    ...     user=np.array([0, 0, 1]),
    ...     item=np.array([0, 1, 1]),
    ...     rating=np.array([5.0, 3.0, 4.0]),
    ...     users=("anna", "ben"),
    ...     items=("case", "cable"),
    ... )
    >>> len(reviews), reviews.rating_matrix().toarray().tolist()
    (3, [[5.0, 3.0], [0.0, 4.0]])
    """

    user: IntArray  # [n_reviews]
    item: IntArray  # [n_reviews]
    rating: FloatArray  # [n_reviews] from 1 to highest
    users: Sequence[str]
    items: Sequence[str]
    time: IntArray | None = None  # [n_reviews] seconds
    mentions: Mentions = field(default_factory=Mentions)
    features: Sequence[str] = ()
    words: Sequence[str] = ()
    sentences: Sequence[str] = ()  # in which something is mentioned
    titles: Sequence[str] = ()  # [n_items], for people; empty: the items' names
    tokens: Sequence[str] = ()
    attributes: SparseArray | None = None  # [n_items, n_tokens] 1 where an item has a token
    highest: float = 5.0

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        for kind in ("users", "items", "features", "words", "tokens"):
            _check_names(kind, getattr(self, kind))
        _check_numbers("the user of every review", self.user, "iu")
        _check_numbers("the item of every review", self.item, "iu")
        _check_numbers("the rating of every review", self.rating, "iuf")
        if self.time is not None:
            _check_numbers("the time of every review", self.time, "iu")
        highest: object = self.highest
        if not isinstance(highest, int | float) or not 1 <= self.highest < np.inf:
            raise DataError(f"the highest rating must be a number of 1 or more, found {self.highest!r}")
        n = len(self.user)
        if not (len(self.item) == len(self.rating) == n and (self.time is None or len(self.time) == n)):
            raise DataError(f"every review needs a user, an item and a rating, found {n} users of reviews")
        _check_range("user", self.user, len(self.users))
        _check_range("item", self.item, len(self.items))
        _check_range("mentioned review", self.mentions.review, n)
        _check_range("feature", self.mentions.feature, len(self.features))
        _check_range("word", self.mentions.word[self.mentions.word != NO_WORD], len(self.words))
        said = self.mentions.sentence
        _check_range("sentence", said[said != NO_SENTENCE], len(self.sentences))
        if n and not (
            np.isfinite(self.rating).all() and 1 <= self.rating.min() <= self.rating.max() <= self.highest
        ):
            raise DataError(
                f"ratings must be from 1 to {self.highest:g}, found {self.rating.min():g} to "
                f"{self.rating.max():g}; map them with `scaled_ratings`"
            )
        if len(np.unique(self.pairs)) < n:
            raise DataError("a user reviews an item once; keep the last of each with `last_of_each`")
        if self.titles and len(self.titles) != len(self.items):
            raise DataError(f"{len(self.titles)} titles for {len(self.items)} items")
        _check_attributes(self.attributes, (len(self.items), len(self.tokens)))

    def __len__(self) -> int:
        return len(self.user)

    @property
    def n_users(self) -> int:
        """How many users have a name."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """How many items have a name."""
        return len(self.items)

    @property
    def pairs(self) -> IntArray:
        """A number for every pair of a user and an item, [n_reviews]."""
        return np.asarray(self.user, np.int64) * max(len(self.items), 1) + self.item

    def title(self, item: int) -> str:
        """What people call an item."""
        return (self.titles or self.items)[item]

    def select(self, keep: BoolArray) -> Reviews:
        """Return these reviews only, with their mentions and all names."""
        row = np.cumsum(keep) - 1
        inside = keep[self.mentions.review]
        mentions = self.mentions.select(inside)
        return replace(
            self,
            user=self.user[keep],
            item=self.item[keep],
            rating=self.rating[keep],
            time=None if self.time is None else self.time[keep],
            mentions=replace(mentions, review=row[mentions.review]),
        )

    def rating_matrix(self) -> SparseArray:
        """Return the ratings as a sparse matrix, [n_users, n_items]."""
        return sparse.csr_array((self.rating, (self.user, self.item)), shape=(self.n_users, self.n_items))

    def count_mentions(self, by: str, *, sentiment: int | None = None) -> SparseArray:
        """Count how often each user (or item) mentions (is said to have) each feature, [n_users, n_features].

        >>> one = np.array([0])
        >>> review = dict(user=one, item=one, rating=np.array([4.0]), users=("anna",), items=("case",))
        >>> mentions = Mentions(np.array([0, 0]), np.array([1, 1]), np.array([1, -1]))
        >>> reviews = Reviews(**review, mentions=mentions, features=("fit", "colour"))
        >>> reviews.count_mentions("item").toarray().tolist()
        [[0, 2]]
        """
        mentions = (
            self.mentions if sentiment is None else self.mentions.select(self.mentions.sentiment == sentiment)
        )
        whose = {"user": self.user, "item": self.item}[by][mentions.review]
        shape = ({"user": self.n_users, "item": self.n_items}[by], len(self.features))
        ones = np.ones(len(mentions), np.int64)
        return sparse.csr_array((ones, (whose, mentions.feature)), shape=shape)  # equal cells are added up


def binarize(matrix: SparseArray) -> SparseArray:
    """Return the same cells, each with 1."""
    return sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)


def _check_numbers(what: str, numbers: IntArray | FloatArray, kinds: str) -> None:
    column = np.asarray(numbers)
    if column.ndim != 1 or (column.size and column.dtype.kind not in kinds) or column is not numbers:
        raise DataError(
            f"{what} must be {'whole numbers' if kinds == 'iu' else 'numbers'}, as one array, "
            f"found {type(numbers).__name__} of {column.dtype} and shape {column.shape}"
        )


def _check_names(kind: str, names: Sequence[str]) -> None:
    given: object = names
    if isinstance(given, str) or not isinstance(given, Sequence) or not set(map(type, given)) <= {str}:
        raise DataError(f"{kind} must be a sequence of texts, found {repr(names)[:80]}")
    if len(set(names)) != len(names):
        raise DataError(f"{kind} must have different names, found one twice")


def _check_attributes(attributes: SparseArray | None, shape: tuple[int, int]) -> None:
    if attributes is None:
        return
    if not sparse.issparse(attributes) or attributes.shape != shape:
        raise DataError(
            f"attributes must be {shape[0]} items x {shape[1]} tokens, as a sparse array, "
            f"found {type(attributes).__name__} of {np.shape(attributes)}"
        )
    if not np.isfinite(attributes.data).all():
        raise DataError("attributes must be finite numbers, found others")


def _check_range(what: str, numbers: IntArray, count: int) -> None:
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < count:
        raise DataError(f"a {what} must be from 0 to {count - 1}, found {numbers.min()} to {numbers.max()}")
