"""Opinions: the words of a clause that praise or complain, with what negates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rankloop.lab.reviews.lexicon import ALSO_NOUNS, COMPOUNDS, PHRASES, VERBS
from rankloop.lab.reviews.negation import NEGATORS, negators
from rankloop.lab.reviews.review_tokens import Token, neighbour
from rankloop.lab.reviews.word_sets import word_set

LEADING = word_set(
    "i we you they he she really also especially absolutely would do did to n't not never just still"
)
"""Words after which *like* and its kin are verbs."""
BEGINNINGS = frozenset([*PHRASES, *VERBS, "well"])
CLOSE = 3
"""How many tokens before an opinion a negator may stand to be part of what is said."""


class Opinion(NamedTuple):
    """Tokens of a clause that praise (1) or complain (-1)."""

    start: int  # of what is said: at a negator, if one stands close
    word: int  # start of the opinion word or words
    stop: int
    sentiment: int


def opinions(clause: Sequence[Token]) -> list[Opinion]:
    """The opinions of a clause, from left to right.

    >>> from rankloop.lab.reviews.review_tokens import token
    >>> opinions([token(word) for word in "a sturdy case that does n't look good".split()])
    [Opinion(start=1, word=1, stop=2, sentiment=1), Opinion(start=5, word=7, stop=8, sentiment=-1)]
    """
    found: list[Opinion] = []
    for index, each in enumerate(clause):
        if not (each.polarity or each.lower in BEGINNINGS or neighbour(clause, index - 1).lower == "too"):
            continue  # most words are no opinions, and quickly passed
        stop, polarity = _opinion_at(clause, index)
        if polarity and not (found and index < found[-1].stop):
            found.append(_negated(clause, index, stop, polarity))
    return found


def _negated(clause: Sequence[Token], word: int, stop: int, polarity: int) -> Opinion:
    turned = negators(clause, word)
    start = turned[0] if turned and word - turned[0] <= CLOSE else word
    return Opinion(start, word, stop, polarity if len(turned) % 2 == 0 else -polarity)


def _opinion_at(clause: Sequence[Token], index: int) -> tuple[int, int]:
    """Where what begins at an index ends, and its polarity, which is 0 if it is no opinion."""
    for phrase, polarity in PHRASES.get(clause[index].lower, ()):
        if tuple(token.lower for token in clause[index : index + len(phrase)]) == phrase:
            return index + len(phrase), polarity
    before, each, after = (neighbour(clause, index + step) for step in (-1, 0, 1))
    if each.lower in NEGATORS:
        return index + 1, 0
    if each.tag[:2] != "RB":
        return index + 1, _polarity(before, each, after)
    polarity = 1 if each.lower == "well" else each.polarity
    if after.tag == "VBN":
        return index + 2, polarity  # well made
    is_of_verb = before.tag[:2] in ("VB", "NN", "RB") and after.tag[:2] != "JJ"  # works well, not: well aware
    return index + 1, polarity if is_of_verb else 0


def _polarity(before: Token, each: Token, after: Token) -> int:
    """The polarity of a word that is no adverb, between its neighbours."""
    if each.lower in VERBS:
        return VERBS[each.lower] if not before.lower or before.lower in LEADING else 0
    if each.lower in ALSO_NOUNS and before.tag in ("DT", "JJ", "PRP$") and after.tag[:2] not in ("NN", "JJ"):
        return 0
    if (each.lower, after.lower) in COMPOUNDS or each.tag == "MD":
        return 0
    return -1 if each.tag[:2] == "JJ" and before.lower == "too" else each.polarity
