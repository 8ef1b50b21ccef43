"""Negation: words that turn an opinion into its opposite."""

from __future__ import annotations

from collections.abc import Sequence

from rankloop.lab.reviews.review_tokens import Token, neighbour
from rankloop.lab.reviews.word_sets import word_set

NEGATORS = word_set(
    """
    not n't no never none nothing neither nor nobody without hardly barely scarcely rarely seldom cannot
    dont doesnt didnt isnt wasnt arent werent wont cant couldnt wouldnt shouldnt aint
    """
)
REACH = 5
"""How many tokens before an opinion a negator may stand."""


def negators(clause: Sequence[Token], opinion: int) -> list[int]:
    """Where the negators of the opinion at an index stand: shortly before it, and after the last comma.

    An even number of them leaves the opinion as it was. *Not only* negates nothing.

    >>> from rankloop.lab.reviews.review_tokens import token
    >>> negators([token(word) for word in "the fit is not very good".split()], 5)
    [3]
    """
    start = max(opinion - REACH, 0)
    commas = [index for index in range(start, opinion) if clause[index].lower == ","]
    reached = range(commas[-1] + 1 if commas else start, opinion)
    return [
        index
        for index in reached
        if clause[index].lower in NEGATORS and neighbour(clause, index + 1).lower != "only"
    ]
