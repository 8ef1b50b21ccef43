"""Clauses: the stretches of a sentence within which an opinion is sought for an aspect."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rankloop.lab.reviews.review_tokens import Token
from rankloop.lab.reviews.word_sets import word_set

BREAKS = word_set(
    '. .. ... ; : ! ? ( ) [ ] -- - – — " “ ” '
    "but although though however while whereas yet except because which unless"
)


def clauses(sentence: Sequence[Token]) -> list[range]:
    """The clauses of a sentence, as ranges of its tokens.

    A sentence breaks at punctuation and at words that turn or qualify what was said, and not at commas: those
    also separate what is listed.

    >>> from rankloop.lab.reviews.review_tokens import token
    >>> clauses([token(word) for word in "Good screen , but slow .".split()])
    [range(0, 3), range(4, 5)]
    """
    breaks = [index for index, each in enumerate(sentence) if each.lower in BREAKS]
    found = (range(start + 1, stop) for start, stop in pairwise([-1, *breaks, len(sentence)]))
    return [clause for clause in found if clause]
