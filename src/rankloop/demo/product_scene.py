"""Shop scene: the products as a corpus, and tastes that can be seen in a list."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.demo.product_search import Corpus
from rankloop.demo.products import COLOURS, PATTERNS, kinds, products
from rankloop.demo.scene import Scene, Word
from rankloop.demo.taste import PlainTaste
from rankloop.policies import PairRank
from rankloop.service import RankerSettings

HITS = 40  # candidates of a search: all products of a kind, and some more
EXAMPLES = ("mug", "lamp", "a cosy gift", "backpack", "for the kitchen", "umbrella", "something for travel")
THEMES = ("gift", "kitchen", "living room", "travel", "cosy", "desk", "winter", "garden", "school", "sport")
SEARCHES = (*(kind.name for kind in kinds()), *THEMES)
TASTES: Mapping[str, PlainTaste] = {
    "blue": PlainTaste("blue", lambda x: x["blue"]),
    "cheap": PlainTaste("cheap", lambda x: 1 - x["price"]),
    "rated": PlainTaste("well rated", lambda x: x["stars"] ** 2),
    "striped": PlainTaste("striped", lambda x: x["striped"]),
    "large": PlainTaste("large", lambda x: x["size"]),
    "new": PlainTaste("new", lambda x: 1 - x["age"]),
}
WORDS: Mapping[str, Word] = {
    **{each: Word(each) for each in (*COLOURS, *PATTERNS)},
    "title_match": Word("found in the title"),
    "path_match": Word("found in what it is"),
    "text_match": Word("found in the text"),
    "size": Word("large", "small"),
    "price": Word("expensive", "cheap"),
    "stars": Word("well rated", "badly rated"),
    "reviews": Word("often reviewed", "rarely reviewed"),
    "age": Word("long in the shop", "new"),
}
# The list begins as the search engine's own; a click counts against everything that was passed over, so that
# it shows at once, and hardly anything moves by luck alone. A person may click as often as they like.
SETTINGS = RankerSettings(
    policy=PairRank(trust="decent", pairing="all", prior=0.8),
    max_explored_pairs=3,
    learn_late=True,
    snapshot_every=5,
    source_lists=None,
    source_repeats=None,
)


def shop() -> Scene:
    """The products as a scene.

    >>> len(shop().corpus), shop().corpus.search("umbrella")[0].entry.kind
    (576, 'umbrella')
    """
    return Scene(
        path="/",
        title="Shop",
        ranker="default",
        settings=SETTINGS,
        rated="stars",
        corpus=Corpus.of(products(), hits=HITS),
        tastes=TASTES,
        searches=SEARCHES,
        examples=EXAMPLES,
        words=WORDS,
        pictured=True,
    )
