"""Part-of-speech tagger: the one inside textblob, asked about each word once.

It looks a word up in a lexicon of 94,000 and guesses the others by their endings. The neighbours of a word do
not count, so its tag can be remembered.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from rankloop.errors import SettingError

MISSING = "reading opinions out of text needs textblob and vaderSentiment: pip install 'rankloop[reviews]'"
Tagger: TypeAlias = Callable[..., list[tuple[str, str]]]

MOSTLY = {
    **dict.fromkeys(("fast", "fun", "prompt"), "JJ"),
    **dict.fromkeys(("love", "work"), "VB"),
    **dict.fromkeys(("runs", "works"), "VBZ"),
    "i": "PRP",
}
"""What some words mostly are in reviews, though the lexicon says otherwise."""


@cache
def tagger() -> Tagger:
    """`textblob.en.tag`, its lexicon read."""
    try:
        from textblob import en  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise SettingError(MISSING) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves the file of its lexicon open
        en.tag("word", tokenize=False)
    tag: Tagger = en.tag
    return tag


def part_of_speech(word: str) -> str:
    """The Penn Treebank tag of a word in small letters.

    >>> [part_of_speech(word) for word in ("the", "battery", "is", "good", "i")]
    ['DT', 'NN', 'VBZ', 'JJ', 'PRP']
    """
    return MOSTLY.get(word) or tagger()(word, tokenize=False)[0][1]
