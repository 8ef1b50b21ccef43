"""Documentation scene: Python's standard library as a corpus, and tastes of those who search it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from rankloop.demo.product_search import Corpus
from rankloop.demo.scene import Scene, Word
from rankloop.demo.taste import Taste
from rankloop.policies import PairRank
from rankloop.service import RankerSettings

SEARCHES = files("rankloop.demo").joinpath("documentation-searches.txt").read_text("utf-8").splitlines()
EXAMPLES = ("json parser", "read csv file", "thread pool", "sort a list", "http request", "parse date")
TASTES: Mapping[str, Taste] = {
    "short": Taste(
        "short functions",
        lambda x: x["is_function"] + 0.8 * x["is_method"] - 1.2 * x["source_length"] - 0.4 * x["arguments"],
    ),
    "classes": Taste(
        "classes from modules everybody uses",
        lambda x: 1.2 * x["is_class"] * (0.4 + x["popularity"]) + 0.5 * x["popularity"],
    ),
    "overview": Taste(
        "modules with long explanations",
        lambda x: x["is_module"] + 0.9 * x["text_length"] + 0.5 * x["examples"] - 0.3 * x["depth"],
    ),
}
WORDS: Mapping[str, Word] = {
    "title_match": Word("found in the title"),
    "path_match": Word("found in the path"),
    "text_match": Word("found in the text"),
    "is_module": Word("a module"),
    "is_class": Word("a class"),
    "is_function": Word("a function"),
    "is_method": Word("a method"),
    "depth": Word("a long path", "a short path"),
    "text_length": Word("a long text", "a short text"),
    "source_length": Word("long source", "short source"),
    "arguments": Word("many arguments", "few arguments"),
    "examples": Word("examples", "no examples"),
    "popularity": Word("a popular module", "a rare module"),
}
# The list begins as the search engine's own and departs from it by what is learned, hardly by luck alone: a
# click counts against everything that was passed over. A person may click as often as they like.
SETTINGS = RankerSettings(
    policy=PairRank(trust="decent", pairing="all"),
    max_explored_pairs=3,
    learn_late=True,
    snapshot_every=5,
    source_lists=None,
    source_repeats=None,
)


def documentation(corpus: Corpus) -> Scene:
    """The documentation as a scene."""
    return Scene(
        path="/documentation",
        title="Documentation",
        ranker="documentation",
        settings=SETTINGS,
        rated="documentation-stars",
        corpus=corpus,
        tastes=TASTES,
        searches=SEARCHES,
        examples=EXAMPLES,
        words=WORDS,
    )
