"""Shop scene: the products as a corpus, and tastes that can be seen in a list."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.demo.product_search import Corpus
from rankloop.demo.products import COLOURS, PATTERNS, kinds, products
from rankloop.demo.scene import Scene, Word
from rankloop.demo.taste import Taste
from rankloop.policies import PairRank
from rankloop.service import ClientLimit, RankerSettings

EXAMPLES = ("mug", "lamp", "a cosy gift", "backpack", "for the kitchen", "umbrella", "something for travel")
THEMES = ("gift", "kitchen", "living room", "travel", "cosy", "desk", "winter", "garden", "school", "sport")
SEARCHES = (*(kind.name for kind in kinds()), *THEMES)
TASTES: Mapping[str, Taste] = {
    "blue": Taste("blue", lambda x: x["blue"]),
    "cheap": Taste("cheap", lambda x: 1 - x["price"]),
    "rated": Taste("well rated", lambda x: x["stars"] ** 2),
    "striped": Taste("striped", lambda x: x["striped"]),
    "large": Taste("large", lambda x: x["size"]),
    "new": Taste("new", lambda x: 1 - x["age"]),
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
    policy=PairRank(caller_order="decent", pairing="all", prior=0.8),
    learn_late=True,
    client_limit=ClientLimit(lists=None, repeats=None),
)


def shop() -> Scene:
    """The products as a scene.

    >>> len(shop().corpus), shop().corpus.search("umbrella")[0].entry.kind
    (576, 'umbrella')
    """
    return Scene(
        title="Shop",
        ranker="default",
        settings=SETTINGS,
        corpus=Corpus(products()),
        tastes=TASTES,
        searches=SEARCHES,
        examples=EXAMPLES,
        words=WORDS,
    )
