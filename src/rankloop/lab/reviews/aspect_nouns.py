"""Aspects: what a review speaks of, as maximal runs of nouns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rankloop.lab.reviews.lexicon import ALSO_NOUNS, COMPOUNDS, read_words, word_set
from rankloop.lab.reviews.opinion_words import NEGATORS, Opinion
from rankloop.lab.reviews.review_tokens import Token, neighbour

WEAK = read_words("weak_nouns")
"""Nouns that say little, or that name what is reviewed as a whole."""
VERBS = word_set("comes feels goes looks run seems tastes worked")
"""Words that may be nouns, and after a noun are none."""
SUBJECTS = word_set("i you we they he she")
BEGINNINGS = frozenset(first for first, _ in COMPOUNDS) | ALSO_NOUNS
VERBAL = frozenset(["VB", "VBG", "VBN"])
PARTICIPLES = frozenset(["VBG", "VBN"])
OPENING = frozenset(["DT", "PRP$", "JJ"])


class Aspect(NamedTuple):
    """Tokens of a clause that name what is spoken of."""

    start: int
    stop: int


def find_aspects(
    clause: Sequence[Token], opinions: Sequence[Opinion], *, weak: frozenset[str] = WEAK
) -> list[Aspect]:
    """Find the aspects of a clause: maximal runs of nouns that are no opinions, without weak ends.

    >>> from rankloop.lab.reviews.review_tokens import make_token
    >>> text = "the operating system of my laptop and the battery life"
    >>> clause = [make_token(word) for word in text.split()]
    >>> find_aspects(clause, [])
    [Aspect(start=1, stop=3), Aspect(start=8, stop=10)]
    """
    taken = {index for opinion in opinions for index in range(opinion.word, opinion.stop)}
    named = (index not in taken and _names(clause, index, taken) for index in range(len(clause)))
    runs = (list(run) for is_run, run in groupby(enumerate(named), lambda each: each[1]) if is_run)
    return [each for run in runs for each in _strong(clause, run[0][0], run[-1][0] + 1, weak)]


def _names(clause: Sequence[Token], index: int, taken: set[int]) -> bool:
    """Whether a token is a noun, or part of a name."""
    each = clause[index]
    if each.lower in NEGATORS or not (each.noun or each.tag in VERBAL or each.lower in BEGINNINGS):
        return False  # most words name nothing, and are quickly passed
    before, after = neighbour(clause, index - 1), neighbour(clause, index + 1)
    if (each.lower, after.lower) in COMPOUNDS:
        return True
    if each.tag in PARTICIPLES:
        return after.noun and index + 1 not in taken and before.tag in OPENING
    if each.tag == "VB" or each.lower in ALSO_NOUNS:
        return before.tag in OPENING
    return each.noun and each.lower not in VERBS and before.lower not in SUBJECTS and before.tag != "MD"


def _strong(clause: Sequence[Token], start: int, stop: int, weak: frozenset[str]) -> Iterator[Aspect]:
    """Return a run of nouns without the weak ones at its ends, if something is left."""
    while start < stop and clause[start].lower in weak:
        start += 1
    while start < stop and clause[stop - 1].lower in weak:
        stop -= 1
    if start < stop:
        yield Aspect(start, stop)
