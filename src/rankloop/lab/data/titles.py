"""Title words as attributes of items."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from rankloop.recommend.reviews import Reviews

STOP_WORDS = frozenset(
    {
        *("a", "all", "an", "and", "at", "by", "for", "from", "in", "is", "it"),
        *("of", "on", "or", "our", "the", "this", "to", "with", "you", "your"),
    }
)


def with_titles(reviews: Reviews, titles: Sequence[str], *, least: int = 5) -> Reviews:
    """The reviews with titles, and with the words of at least so many titles as attributes.

    >>> one = np.array([0])
    >>> two = Reviews(user=one, item=one, rating=np.array([5.0]), users=("anna",), items=("1", "2"))
    >>> named = with_titles(two, ["Red Case for Phones", "Case &amp; cable"], least=2)
    >>> named.tokens, named.attributes.toarray().tolist()
    (('case',), [[1.0], [1.0]])
    """
    found = [title_words(title) for title in titles]
    often = Counter(word for words in found for word in words)
    tokens = tuple(sorted(word for word, count in often.items() if count >= least))
    column = {token: number for number, token in enumerate(tokens)}
    cells = [
        (row, column[word]) for row, words in enumerate(found) for word in sorted(words) if word in column
    ]
    rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
    shape = (len(titles), len(tokens))
    attributes = sparse.csr_array((np.ones(len(cells)), (rows, columns)), shape=shape)
    return replace(reviews, titles=tuple(map(html.unescape, titles)), tokens=tokens, attributes=attributes)


def title_words(title: str) -> set[str]:
    """The words of a title that may tell something, in small letters of any alphabet.

    >>> sorted(title_words("Case for the iPhone&reg; 5"))
    ['5', 'case', 'iphone']
    """
    return set(re.findall(r"[^\W_]+", html.unescape(title).lower())) - STOP_WORDS
