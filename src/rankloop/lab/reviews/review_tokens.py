"""Sentences, clauses and tokens: a text cut into pieces.

Words are cut as treebanks cut them: `isn't` is `is` and `n't`, `it's` is `it` and `'s`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rankloop.lab.reviews.lexicon import polarity, word_set
from rankloop.lab.reviews.part_of_speech import part_of_speech

ABBREVIATIONS = ("mr", "mrs", "ms", "dr", "st", "vs", "e.g", "i.e", "approx")
BOUNDARY = re.compile(
    r"""
      (?<![.!?])[.!?]++(?:["')\]”’]*+(?=\s|$)     # the end of a sentence, also of a quoted one
    | (?=[A-Z][a-z]))                             # a blank was forgotten
    | \n++
    """,
    re.VERBOSE,
)
WORD = re.compile(
    r"""
      n['’]t\b                                    # the end of isn't
    | ['’](?:s|re|ve|ll|d|m)\b
    | [^\W\d_]+?(?=n['’]t\b)                      # the beginning of isn't
    | [^\W_]+(?:[-./&][^\W_]+)*                   # also user-friendly, and/or, 3.5
    | \.{2,} | --+ | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


BREAKS = word_set(
    '. .. ... ; : ! ? ( ) [ ] -- - – — " “ ” '
    "but although though however while whereas yet except because which unless"
)


class Token(NamedTuple):
    """A word or a punctuation mark, with what is known of it wherever it stands."""

    lower: str
    tag: str  # of the Penn Treebank
    polarity: int  # 1, -1, or 0 for a word without an opinion
    noun: bool


NO_TOKEN = Token("", "", 0, noun=False)


@lru_cache(maxsize=1 << 17)
def make_token(word: str) -> Token:
    """Return what is known of a word.

    >>> make_token("Great")
    Token(lower='great', tag='JJ', polarity=1, noun=False)
    """
    lower = word.lower().replace("’", "'")
    tag = part_of_speech(lower)
    return Token(lower, tag, polarity(lower), tag[:2] == "NN" and lower[0].isalpha())


def neighbour(clause: Sequence[Token], index: int) -> Token:
    """Return the token at an index of a clause, and an empty one beyond its ends."""
    return clause[index] if 0 <= index < len(clause) else NO_TOKEN


def split_sentences(text: str) -> list[str]:
    """Split a text into its sentences, as they were written.

    >>> split_sentences("It cost $3.50. Works well!No complaints")
    ['It cost $3.50.', 'Works well!', 'No complaints']
    """
    ends = [boundary.end() for boundary in BOUNDARY.finditer(text) if _ends(text, boundary)]
    found = (text[start:end].strip() for start, end in zip([0, *ends], [*ends, len(text)], strict=True))
    return [sentence for sentence in found if sentence]


def _ends(text: str, boundary: re.Match[str]) -> bool:
    """Whether a sentence ends here, and not an abbreviation or the first half of a name with a dot in it."""
    before = text[max(0, boundary.start() - 10) : boundary.start()].lower().split()[-1:]
    return boundary[0][0] != "." or not before or before[0].lstrip("(\"'") not in ABBREVIATIONS


def split_words(sentence: str) -> list[str]:
    """Split a sentence into words and punctuation.

    >>> split_words("It isn't user-friendly, but it's cheap.")
    ['It', 'is', "n't", 'user-friendly', ',', 'but', 'it', "'s", 'cheap', '.']
    """
    return WORD.findall(sentence)


def split_clauses(sentence: Sequence[Token]) -> list[range]:
    """Split a sentence into clauses, as ranges of its tokens.

    A sentence breaks at punctuation and at words that turn or qualify what was said, and not at commas: those
    also separate what is listed.

    >>> split_clauses([make_token(word) for word in "Good screen , but slow .".split()])
    [range(0, 3), range(4, 5)]
    """
    breaks = [index for index, each in enumerate(sentence) if each.lower in BREAKS]
    found = (range(start + 1, stop) for start, stop in pairwise([-1, *breaks, len(sentence)]))
    return [clause for clause in found if clause]
