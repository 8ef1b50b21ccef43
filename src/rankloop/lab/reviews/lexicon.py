"""Opinion lexicon: which words praise, and which complain.

VADER's lexicon was made for short messages. What reviews say of things (*crisp*, *soggy*, *flimsy*) is added
to it, and words that in reviews mostly say something else (*support*, *value*, *fan*) are taken out.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from rankloop.errors import SettingError
from rankloop.lab.reviews.part_of_speech import MISSING

LEAST_VALENCE = 1.0
"""Words that people rated closer to 0 than this, from -4 to 4, are no opinions."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text.

    >>> sorted(word_set("of the of"))
    ['of', 'the']
    """
    return frozenset(text.split())


def read_words(name: str) -> frozenset[str]:
    """Read a list of words of this package."""
    return word_set(files("rankloop.lab.reviews").joinpath(f"{name}.txt").read_text("utf-8"))


PRAISE = read_words("praise")
COMPLAINT = read_words("complaints")
NEITHER = read_words("no_opinions")
VERBS = {
    **dict.fromkeys(word_set("love loved loves loving like liked likes enjoy enjoyed enjoys recommend"), 1),
    **dict.fromkeys(word_set("hate hated hates dislike disliked"), -1),
}
"""Verbs of opinion, which are also other parts of speech: opinions where somebody does them."""
ALSO_NOUNS = frozenset(["light"])
"""Opinions that are nouns after an article or an adjective, unless a noun follows."""
SIZES = {
    **dict.fromkeys(word_set("high higher highest long longer longest large larger largest big bigger"), 1),
    **dict.fromkeys(word_set("low lower lowest short shorter shortest small smaller smallest little"), -1),
}
"""Words of size: large is good, except of a burden."""
BURDENS = word_set(
    """
    price prices pricing cost costs bill charge fee fees tab wait waits delay delays line lines queue noise
    weight temperature temperatures
    """
)
PHRASES: dict[str, list[tuple[tuple[str, ...], int]]] = {
    "above": [(("above", "average"), 1)],
    "below": [(("below", "average"), -1)],
    "out": [(("out", "of", "this", "world"), 1)],
    "stopped": [(("stopped", "working"), -1)],
    "stops": [(("stops", "working"), -1)],
    "top": [(("top", "notch"), 1)],
    "user": [(("user", "friendly"), 1)],
    "well": [(("well", "worth"), 1), (("well", "made"), 1)],
}
"""Opinions of several words, by the first of them."""
COMPOUNDS = frozenset(
    (first, second)
    for first, seconds in {
        "cold": "brew cuts",
        "dead": "pixel pixels",
        "dim": "sum",
        "happy": "hour hours",
        "hard": "case disc disk disks drive drives shell",
        "hot": "dog dogs sauce",
        "light": "bulb bulbs switch",
        "short": "rib ribs",
        "solid": "state",
        "sour": "cream",
        "super": "drive",
        "sweet": "potato potatoes",
    }.items()
    for second in seconds.split()
)
"""Names that begin with a word which otherwise is an opinion."""


@cache
def _valences() -> dict[str, float]:
    """Read VADER's words, each with the mean of ten people's ratings from -4 to 4."""
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SettingError(MISSING) from error
    lexicon: dict[str, float] = SentimentIntensityAnalyzer().lexicon
    return lexicon


def polarity(word: str) -> int:
    """Return 1 for a word of praise, -1 for a complaint, 0 for neither.

    >>> polarity("excellent"), polarity("soggy"), polarity("keyboard")
    (1, -1, 0)
    """
    if word in PRAISE or word in COMPLAINT:
        return 1 if word in PRAISE else -1
    if word in SIZES:
        return SIZES[word]
    valence = 0.0 if word in NEITHER else _valences().get(word, 0.0)
    return (valence >= LEAST_VALENCE) - (valence <= -LEAST_VALENCE)
