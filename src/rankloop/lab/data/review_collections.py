"""Collections of reviews by name: a made-up shop, published tuple files, files of one's own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rankloop.errors import DataError, SettingError, suggest_name
from rankloop.lab.data.published_reviews import read_cellphones, read_instruments
from rankloop.lab.data.review_files import read_reviews
from rankloop.lab.data.review_splits import Parts, by_share, joined
from rankloop.lab.data.synthetic_reviews import AccessoryShop
from rankloop.naming import read_name
from rankloop.recommend.reviews import Reviews
from rankloop.types import BoolArray

SHOPS = {"shop": AccessoryShop}
PUBLISHED = {
    "phones": "amazon_cellphones_mter",
    "phones-fact": "amazon_cellphones_fact",
    "music": "amazon_musical_instruments_tuples",
}


def load_reviews(name: str, *, seed: int = 0, everything: bool = False) -> Parts:
    """Reviews by name, split: 80 % to learn from, 10 % for validation, 10 % for test.

    Published collections keep the test reviews that they come with. Names are `shop`, `phones`,
    `phones-fact` and `music` (folders below `RANKLOOP_DATA`), or a CSV or JSON lines file. With `everything`,
    nothing is held out.

    >>> parts = load_reviews("shop(users=30, items=20, seed=1)")
    >>> len(parts.train) > len(parts.test)
    True
    """
    known, test = _read(name)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 83]))
    if everything:
        return by_share(joined(known, test), rng, validation=0.0, test=0.0)
    if not len(test):
        return by_share(known, rng)
    parts = by_share(known, rng, validation=1 / 9, test=0.0)
    return Parts(parts.train, parts.validation, test)


def _read(name: str) -> tuple[Reviews, Reviews]:
    """The reviews of a name, and those among them that their publisher holds out for test."""
    if name.partition("(")[0].strip().casefold() in SHOPS:
        return _all(read_name(name, SHOPS, noun="collection").reviews())
    if name in PUBLISHED:
        folder = _find(PUBLISHED[name], name)
        return _all(read_instruments(folder)) if name == "music" else read_cellphones(folder)
    if not Path(name).exists():
        choices = suggest_name(name, [*SHOPS, *PUBLISHED])
        raise SettingError(f"no reviews are called {name!r}: {choices}, or name a CSV or JSON lines file")
    return _all(read_reviews(name))


def _all(reviews: Reviews) -> tuple[Reviews, Reviews]:
    nothing: BoolArray = np.zeros(len(reviews), bool)
    return reviews, reviews.select(nothing)


def _find(folder: str, name: str) -> Path:
    roots = [Path(root) for root in os.environ.get("RANKLOOP_DATA", "").split(os.pathsep) if root]
    for root in roots:
        for path in (root / folder, root / "later" / folder):
            if path.is_dir():
                return path
    looked = ", ".join(map(str, roots)) or "no folder, because RANKLOOP_DATA is not set"
    raise DataError(f"{name}: expected a folder {folder!r}, looked in {looked}; shop needs no data")
