"""Collections of reviews by name: a made-up shop, published tuple files, files of one's own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rankloop.data.reviews.shop import Shop
from rankloop.data.reviews.splits import Parts, by_share
from rankloop.data.reviews.tables import read_reviews
from rankloop.data.reviews.tuples import read_cellphones, read_instruments
from rankloop.types import DataError, SettingError, suggestion

SHOP = "synthetic:shop"
PUBLISHED = {
    "phones": "amazon_cellphones_mter",
    "phones-fact": "amazon_cellphones_fact",
    "music": "amazon_musical_instruments_tuples",
}


def load_reviews(name: str, *, seed: int = 0) -> Parts:
    """Reviews by name, split: 80 % to learn from, 10 % for validation, 10 % for test.

    Published collections keep the test reviews that they come with. Names are `synthetic:shop`, `phones`,
    `phones-fact` and `music` (folders below `RANKLOOP_DATA`), or a CSV or JSON lines file.

    >>> parts = load_reviews("synthetic:shop:users=30,items=20,seed=1")
    >>> len(parts.train) > len(parts.test)
    True
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 83]))
    if name.startswith(SHOP):
        return by_share(Shop(**_options(name.removeprefix(SHOP).lstrip(":"))).reviews(), rng)
    if name in PUBLISHED:
        folder = _find(PUBLISHED[name], name)
        if name == "music":
            return by_share(read_instruments(folder), rng)
        known, test = read_cellphones(folder)
        parts = by_share(known, rng, validation=1 / 9, test=0.0)
        return Parts(parts.train, parts.validation, test)
    if not Path(name).exists():
        choices = suggestion(name, [SHOP, *PUBLISHED])
        raise SettingError(f"no reviews are called {name!r}: {choices}, or name a CSV or JSON lines file")
    return by_share(read_reviews(name), rng)


def _options(text: str) -> dict[str, int]:
    pairs = (each.partition("=") for each in text.split(",") if each)
    options = {key: value for key, _, value in pairs}
    if unknown := set(options) - {"users", "items", "seed"}:
        raise SettingError(f"the shop has no option {sorted(unknown)[0]!r}: choose from users, items, seed")
    try:
        return {key: int(value) for key, value in options.items()}
    except ValueError:
        raise SettingError(f"options of the shop are whole numbers, found {text!r}") from None


def _find(folder: str, name: str) -> Path:
    roots = [Path(root) for root in os.environ.get("RANKLOOP_DATA", "").split(os.pathsep) if root]
    for root in roots:
        for path in (root / folder, root / "later" / folder):
            if path.is_dir():
                return path
    looked = ", ".join(map(str, roots)) or "no folder, because RANKLOOP_DATA is not set"
    raise DataError(f"{name}: expected a folder {folder!r}, looked in {looked}; {SHOP} needs no data")
