"""Opinions: the words of a clause that praise or complain, with what negates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rankloop.lab.reviews.lexicon import ALSO_NOUNS, COMPOUNDS, PHRASES, VERBS, word_set
from rankloop.lab.reviews.review_tokens import Token, neighbour

LEADING = word_set(
    "i we you they he she really also especially absolutely would do did to n't not never just still"
)
"""Words after which *like* and its kin are verbs."""
NEGATORS = word_set(
    """
    not n't no never none nothing neither nor nobody without hardly barely scarcely rarely seldom cannot
    dont doesnt didnt isnt wasnt arent werent wont cant couldnt wouldnt shouldnt aint
    """
)
REACH = 5
"""How many tokens before an opinion a negator may stand."""
BEGINNINGS = frozenset([*PHRASES, *VERBS, "well"])
CLOSE = 3
"""How many tokens before an opinion a negator may stand to be part of what is said."""


class Opinion(NamedTuple):
    """Tokens of a clause that praise (1) or complain (-1)."""

    start: int  # of what is said: at a negator, if one stands close
    word: int  # start of the opinion word or words
    stop: int
    sentiment: int


def find_opinions(clause: Sequence[Token]) -> list[Opinion]:
    """Find the opinions of a clause, from left to right.

    >>> from rankloop.lab.reviews.review_tokens import make_token
    >>> find_opinions([make_token(word) for word in "a sturdy case that does n't look good".split()])
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
    turned = find_negators(clause, word)
    start = turned[0] if turned and word - turned[0] <= CLOSE else word
    return Opinion(start, word, stop, polarity if len(turned) % 2 == 0 else -polarity)


def _opinion_at(clause: Sequence[Token], index: int) -> tuple[int, int]:
    """Return where what begins at an index ends, and its polarity, which is 0 if it is no opinion."""
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
    """Return the polarity of a word that is no adverb, between its neighbours."""
    if each.lower in VERBS:
        return VERBS[each.lower] if not before.lower or before.lower in LEADING else 0
    if each.lower in ALSO_NOUNS and before.tag in ("DT", "JJ", "PRP$") and after.tag[:2] not in ("NN", "JJ"):
        return 0
    if (each.lower, after.lower) in COMPOUNDS or each.tag == "MD":
        return 0
    return -1 if each.tag[:2] == "JJ" and before.lower == "too" else each.polarity


def find_negators(clause: Sequence[Token], opinion: int) -> list[int]:
    """Find where the negators of the opinion at an index stand: shortly before it, and after the last comma.

    An even number of them leaves the opinion as it was. *Not only* negates nothing.

    >>> from rankloop.lab.reviews.review_tokens import make_token
    >>> find_negators([make_token(word) for word in "the fit is not very good".split()], 5)
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
