"""Make synthetic worlds by name and options: the same options give the same data, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, get_type_hints

from rankloop.errors import SettingError, suggest_name
from rankloop.lab.data.dataset import Dataset, fingerprint
from rankloop.lab.data.query_set_slices import take_queries
from rankloop.lab.data.synthetic_web_search import make_independent, make_nonlinear
from rankloop.lab.data.synthetic_worlds import make_ads, make_items, make_linear, make_separable
from rankloop.lab.data.world_options import Sizes, check_options
from rankloop.query_set import QuerySet

WORLD_VERSION = 2  # part of the fingerprint: raise it whenever the same options give other data
LENGTHS = ("min_documents", "max_documents")
SIZE_NAMES = tuple(each.name for each in fields(Sizes))


@dataclass(frozen=True, slots=True)
class World:
    """How a world is made, its sizes if nothing else is said, and what is done to it afterwards."""

    make: Callable[..., QuerySet]  # of sizes and options
    sizes: Sizes
    lacks: tuple[str, ...] = ()  # sizes that mean nothing here
    is_ready: bool = True  # made in its final scale: preparation would only distort it

    @property
    def options(self) -> Mapping[str, Any]:
        """The annotations of everything that may be chosen, by name."""
        hints = {name: hint for kind in (Sizes, self.make) for name, hint in _hints_of(kind).items()}
        return {name: hint for name, hint in hints.items() if name not in ("sizes", "return", *self.lacks)}

    @property
    def summary(self) -> str:
        """What it is, in one line."""
        return (self.make.__doc__ or "").split("\n")[0]


WEB = Sizes(queries=1000, test_queries=250, min_documents=40, max_documents=200)
WORLDS: Mapping[str, World] = {
    "linear": World(make_linear, Sizes()),
    "nonlinear": World(make_nonlinear, WEB, is_ready=False),
    "independent": World(make_independent, WEB, is_ready=False),
    "separable": World(make_separable, Sizes(min_documents=20, max_documents=20)),
    "items": World(make_items, Sizes(queries=2000), lacks=LENGTHS),
    "ads": World(make_ads, Sizes(queries=2000, test_queries=1000), lacks=LENGTHS),
}


def make_dataset(name: str, /, **options: object) -> Dataset:
    """Make the world of this name with these options, cut into train and test, not yet prepared.

    >>> made = make_dataset("linear", queries=3, test_queries=2, noise=0.1)
    >>> made.name, len(made.train), made.train.n_features
    ('linear(queries=3, test_queries=2, noise=0.1)', 3, 20)
    """
    if name not in WORLDS:
        raise SettingError(f"no synthetic world is called {name!r}: {suggest_name(name, WORLDS)}")
    world = WORLDS[name]
    given = check_options(f"the {name} world", world.options, options)
    own = {option: value for option, value in given.items() if option not in SIZE_NAMES}
    sizes = replace(world.sizes, **{option: given[option] for option in SIZE_NAMES if option in given})
    made = world.make(sizes, **own)
    train, test = take_queries(made, 0, sizes.queries), take_queries(made, sizes.queries)
    text = f"{name}({', '.join(f'{option}={value!r}' for option, value in options.items())})"
    mark = fingerprint(name, repr(sizes), repr(sorted(own.items())), f"world version {WORLD_VERSION}")
    return Dataset(text if options else name, train, test, None, mark)


@cache
def _hints_of(kind: Callable[..., object]) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)
