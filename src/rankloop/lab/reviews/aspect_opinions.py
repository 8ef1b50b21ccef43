"""Aspects joined with opinions: which opinion of a clause is about which aspect.

An adjective belongs to the noun that follows it, and what follows a verb to the noun before it; what is
listed shares its opinions. An aspect that has found none so takes the nearest that is left, if one is near.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from rankloop.lab.reviews.aspect_nouns import WEAK, Aspect, find_aspects
from rankloop.lab.reviews.lexicon import BURDENS, SIZES, word_set
from rankloop.lab.reviews.opinion_words import Opinion, find_opinions
from rankloop.lab.reviews.review_tokens import Token

Clause: TypeAlias = Sequence[Token]
Links: TypeAlias = dict[Aspect, list[Opinion]]

WINDOW = 5
"""How many tokens from an aspect an opinion may stand that no grammar joins to it."""
COPULAS = word_set(
    """
    're 's are be been being came come comes feel feels felt get gets got is look looked looks remains seem
    seemed seems sound sounded sounds stays taste tasted tastes was were
    """
)
LISTED = frozenset(["and", "or", ",", "&"])
DETERMINERS = word_set("the a an my its this that these those their our your his her some")
PREDICATE = frozenset(["VB", "MD", "DT", "RB", "JJ"])  # how the tags of a predicate begin
FINITE = frozenset(["VBD", "VBZ", "VBP", "MD"])
HELPERS = DETERMINERS | {"as", "both"}


def join_opinions(clause: Clause, *, weak: frozenset[str] = WEAK) -> list[tuple[Aspect, Opinion]]:
    """Join the aspects of a clause with their opinions, from left to right.

    >>> from rankloop.lab.reviews.review_tokens import make_token
    >>> clause = [make_token(word) for word in "great food and the service was n't slow".split()]
    >>> [(clause[a.start].lower, clause[o.word].lower, o.sentiment) for a, o in join_opinions(clause)]
    [('food', 'great', 1), ('service', 'slow', 1)]
    """
    said = find_opinions(clause)
    about = find_aspects(clause, said, weak=weak) if said else []
    links = _by_grammar(clause, about, said)
    _share(clause, links, about[::-1])
    _take_nearest(clause, links, said)
    _share(clause, links, about)
    return [
        (aspect, _of_burden(clause, aspect, each)) for aspect in about for each in sorted({*links[aspect]})
    ]


def _by_grammar(clause: Clause, about: Sequence[Aspect], said: Sequence[Opinion]) -> Links:
    ends = {opinion.stop - 1: opinion for opinion in said}
    before = {aspect: _attributes(clause, aspect, ends) for aspect in about}
    taken = {opinion for found in before.values() for opinion in found}
    return {
        aspect: [*before[aspect], *(each for each in _predicates(clause, aspect, ends) if each not in taken)]
        for aspect in about
    }


def _attributes(clause: Clause, aspect: Aspect, ends: dict[int, Opinion]) -> list[Opinion]:
    """Find the opinions right before an aspect: `good`, `light` in `a good, very light case`."""
    found: list[Opinion] = []
    index = aspect.start - 1
    if index not in ends and (index < 0 or clause[index].tag[:2] != "JJ"):
        return found
    while index >= 0:
        if index in ends and clause[index].tag[:2] in ("JJ", "VB", "NN"):
            found.append(ends[index])
            index = ends[index].start - 1
        elif clause[index].lower in LISTED or clause[index].tag[:2] in ("JJ", "RB"):
            index -= 1
        else:
            break
    return found


def _predicates(clause: Clause, aspect: Aspect, ends: dict[int, Opinion]) -> list[Opinion]:
    """Find the opinions after the verb of an aspect: `slow`, `loud` in `the drive was slow and very loud`."""
    found: list[Opinion] = []
    for index in range(_verb(clause, aspect, ends), len(clause)):
        each = clause[index]
        if index in ends:
            found.append(ends[index])
        elif each.tag[:2] in ("RB", "JJ") or (found and each.lower in LISTED):
            continue
        elif found or not (each.lower in COPULAS or each.tag[:2] in PREDICATE or each.lower in HELPERS):
            break
    return found


def _verb(clause: Clause, aspect: Aspect, ends: dict[int, Opinion]) -> int:
    """Find where the verb of an aspect stands, at most three tokens after it; the clause's end if nowhere."""
    for index in range(aspect.stop, min(aspect.stop + 4, len(clause))):
        if clause[index].lower in COPULAS or clause[index].tag in FINITE:
            return index
        if index in ends or clause[index].lower in LISTED:
            break
    return len(clause)


def _share(clause: Clause, links: Links, about: Sequence[Aspect]) -> None:
    """Give what is listed the opinions of what it is listed with, along the order of the aspects.

    Opinions that follow a list are shared towards its beginning, opinions before it towards its end; an
    adjective reaches no further than the next determiner.
    """
    for this, other in pairwise(about):
        first, second = sorted((this, other))
        between = {token.lower for token in clause[first.stop : second.start]}
        if not between & LISTED or not between <= LISTED | DETERMINERS:
            continue
        if this is second and not links[first]:
            links[first] += [each for each in links[second] if each.start >= second.stop]
        if this is first and not links[second]:
            links[second] += [
                each
                for each in links[first]
                if each.start < first.start
                and (not between & DETERMINERS or clause[each.stop - 1].tag[:2] != "JJ")
            ]


def _take_nearest(clause: Clause, links: Links, said: Sequence[Opinion]) -> None:
    """Give aspects without an opinion the nearest one that is left, if it is near and no comma is between."""
    taken = {opinion for found in links.values() for opinion in found}
    left = [opinion for opinion in said if opinion not in taken]  # from left to right
    where = [opinion.word for opinion in left]
    longest = max((opinion.stop - opinion.word for opinion in left), default=0)
    for aspect in (aspect for aspect, found in links.items() if not found):
        first = bisect_left(where, aspect.start - WINDOW - longest)
        last = bisect_right(where, aspect.stop + WINDOW)
        near = [(_distance(clause, aspect, opinion), opinion) for opinion in left[first:last]]
        links[aspect] += [opinion for distance, opinion in sorted(near)[:1] if distance <= WINDOW]


def _distance(clause: Clause, aspect: Aspect, opinion: Opinion) -> int:
    """Count how many tokens an opinion stands from an aspect; too many if there is a comma between them."""
    first = min(aspect.stop, opinion.stop)
    second = max(aspect.start, opinion.start)
    if any(token.lower == "," for token in clause[first:second]):
        return WINDOW + 1
    return 1 + (aspect.start - opinion.stop if opinion.start < aspect.start else opinion.word - aspect.stop)


def _of_burden(clause: Clause, aspect: Aspect, opinion: Opinion) -> Opinion:
    """A size said of a burden turns round: a high price is a complaint, a low one praise."""
    excess = opinion.word > 0 and clause[opinion.word - 1].lower == "too"
    if excess or clause[opinion.word].lower not in SIZES or clause[aspect.stop - 1].lower not in BURDENS:
        return opinion
    return opinion._replace(sentiment=-opinion.sentiment)
