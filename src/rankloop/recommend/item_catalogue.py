"""Catalogue of a shop: names of everything, and what reviewers said, as far as reasons in words need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from rankloop.errors import DataError
from rankloop.recommend.reviews import NO_SENTENCE, NO_WORD, Reviews, SparseArray
from rankloop.types import Array, IntArray

LONGEST_QUOTE = 160  # letters; longer sentences are not quoted
KINDS = ("users", "items", "titles", "features", "words", "tokens")


@dataclass(frozen=True, eq=False, kw_only=True)
class Catalogue:
    """Names of users, items, features, words and tokens, with counts of what was mentioned of every item.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> shop = Catalogue.of(AccessoryShop(users=30, items=24).reviews())
    >>> shop.titles[0], shop.find_row("items", "item 3")
    ('Slim Case for Alpa', 3)
    """

    users: tuple[str, ...]
    items: tuple[str, ...]
    titles: tuple[str, ...]
    features: tuple[str, ...]
    words: tuple[str, ...]
    tokens: tuple[str, ...]
    good: SparseArray  # [n_items, n_features] positive mentions
    bad: SparseArray  # [n_items, n_features] negative mentions
    by_user: SparseArray  # [n_users, n_features] mentions
    attributes: SparseArray  # [n_items, n_tokens]
    said: IntArray = field(
        default_factory=lambda: np.zeros((0, 4), np.int64)
    )  # item, feature, word, count; positive
    quotes: Mapping[tuple[int, int], str] = field(default_factory=dict)  # by item and feature

    def __post_init__(self) -> None:
        """Refuse counts that do not fit the names."""
        shapes = {
            "good": (len(self.items), len(self.features)),
            "bad": (len(self.items), len(self.features)),
            "by_user": (len(self.users), len(self.features)),
            "attributes": (len(self.items), len(self.tokens)),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape or len(self.titles) != len(self.items):
                raise DataError(f"{name} must be {shape}, found {getattr(self, name).shape}")
        for kind in ("users", "items"):
            if len(set(getattr(self, kind))) != len(getattr(self, kind)):
                raise DataError(f"{kind} must have different names, found one twice")
        sizes = (len(self.items), len(self.features), len(self.words))
        if self.said.ndim != 2 or not ((self.said[:, :3] >= 0) & (self.said[:, :3] < sizes)).all():
            raise DataError("what was said must be of items, features and words that have names")

    @classmethod
    def of(cls, reviews: Reviews) -> Catalogue:
        """Make the catalogue of what was reviewed."""
        attributes = (
            reviews.attributes if reviews.attributes is not None else sparse.csr_array((reviews.n_items, 0))
        )
        return cls(
            users=tuple(reviews.users),
            items=tuple(reviews.items),
            titles=tuple(reviews.titles or reviews.items),
            features=tuple(reviews.features),
            words=tuple(reviews.words),
            tokens=tuple(reviews.tokens),
            good=reviews.count_mentions("item", sentiment=1),
            bad=reviews.count_mentions("item", sentiment=-1),
            by_user=reviews.count_mentions("user"),
            attributes=attributes,
            said=_said(reviews),
            quotes=_quotes(reviews),
        )

    def find_row(self, kind: str, name: str) -> int:
        """Find the number of a name; the error says what to do about one that nobody has."""
        numbers: Mapping[str, int] = {each: row for row, each in enumerate(getattr(self, kind))}
        if name not in numbers:
            known = ", ".join(list(numbers)[:3])
            raise DataError(
                f"none of the {len(numbers)} {kind} is called {name!r}; they are called {known}, ..."
            )
        return numbers[name]

    def find_common_word(self, item: int, feature: int) -> str | None:
        """Find the word that reviewers of an item used most to praise a feature; None, if they used none."""
        own = cells_of(self._words_said, item * len(self.features) + feature)
        best = min(own, key=lambda word: (-own[word], word), default=None)
        return None if best is None else self.words[best]

    @cached_property
    def _words_said(self) -> SparseArray:
        """Counts of praising words, [n_items * n_features, n_words]."""
        item, feature, word, count = self.said.T
        shape = (len(self.items) * len(self.features), len(self.words))
        return sparse.csr_array((count, (item * len(self.features) + feature, word)), shape=shape)

    def arrays(self) -> dict[str, Array]:
        """Return everything but the names, as arrays."""
        found: dict[str, Array] = {"said": self.said}
        for name in ("good", "bad", "by_user", "attributes"):
            matrix = sparse.csr_array(getattr(self, name))
            found |= {
                f"{name}_data": matrix.data,
                f"{name}_indices": matrix.indices,
                f"{name}_indptr": matrix.indptr,
                f"{name}_shape": np.array(matrix.shape),
            }
        return found

    @classmethod
    def from_arrays(
        cls,
        names: Mapping[str, list[str]],
        arrays: Mapping[str, Array],
        quotes: Mapping[tuple[int, int], str],
    ) -> Catalogue:
        """Return the catalogue that gave these names and arrays."""
        matrices = {
            name: sparse.csr_array(
                tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr")),
                shape=tuple(arrays[f"{name}_shape"].tolist()),
            )
            for name in ("good", "bad", "by_user", "attributes")
        }
        for matrix in matrices.values():
            matrix.check_format(full_check=True)
        return cls(
            **{kind: tuple(names[kind]) for kind in KINDS}, **matrices, said=arrays["said"], quotes=quotes
        )


def _quotes(reviews: Reviews) -> dict[tuple[int, int], str]:
    """For each feature of each item the shortest sentence that praises it, of equals the first."""
    said = reviews.mentions
    inside = (said.sentiment == 1) & (said.sentence != NO_SENTENCE)
    columns = reviews.item[said.review[inside]], said.feature[inside], said.sentence[inside]
    quotes: dict[tuple[int, int], str] = {}
    for item, feature, sentence in zip(*(each.tolist() for each in columns), strict=True):
        text = reviews.sentences[sentence]
        if len(text) <= LONGEST_QUOTE and len(text) < len(quotes.get((item, feature), text + " ")):
            quotes[item, feature] = text
    return quotes


def cells_of(matrix: SparseArray, row: int) -> dict[int, float]:
    """Return the cells of a row, by column: for one row at a time, a tenth of the time of indexing.

    >>> cells_of(sparse.csr_array(np.array([[0, 3, 0], [1, 0, 2]])), 1)
    {0: 1, 2: 2}
    """
    start, end = matrix.indptr[row : row + 2].tolist()
    return dict(zip(matrix.indices[start:end].tolist(), matrix.data[start:end].tolist(), strict=True))


def _said(reviews: Reviews) -> IntArray:
    """Positive words said of each feature of each item, with their number."""
    mentions = reviews.mentions
    inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    cells = np.column_stack(
        [reviews.item[mentions.review[inside]], mentions.feature[inside], mentions.word[inside]]
    )
    if not len(cells):
        return np.zeros((0, 4), np.int64)
    found, count = np.unique(cells, axis=0, return_counts=True)
    return np.column_stack([found, count]).astype(np.int64)
