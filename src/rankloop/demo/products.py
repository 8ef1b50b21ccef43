"""Catalogue of the demo's shop: hundreds of products, each with real attributes, made from a seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import cycle, islice

import numpy as np

from rankloop.demo.sellers import AMBER, BIRCH

COLOURS = ("red", "yellow", "green", "blue", "purple", "pink")
PATTERNS = ("solid", "striped", "dotted", "checked")
SIZES: Mapping[str, float] = {"small": 0.7, "medium": 1.0, "large": 1.45}  # what they do to a price
SEED = 7
EACH = 36  # products of a kind
NEW = 3  # months for which a product is new
NAMES = (
    *("Alder", "Basalt", "Brook", "Clover", "Cove", "Dune", "Ember", "Fern", "Fjord", "Gale", "Harbour"),
    *("Heath", "Inlet", "Iris", "Juniper", "Kelp", "Lagoon", "Linden", "Marsh", "Meadow", "Moor", "Nimbus"),
    *("Oak", "Opal", "Pebble", "Poppy", "Quartz", "Reed", "Sage", "Slate", "Tarn", "Thistle", "Umber"),
    *("Vale", "Willow", "Yarrow"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """Something to buy, with all that can be seen of it."""

    name: str  # mug-fjord
    kind: str
    room: str  # where it belongs
    colour: str
    pattern: str
    size: str
    price: int  # euros
    stars: float  # 1 to 5, the mean of its reviews
    reviews: int
    age: int  # months since it came into the shop
    seller: str
    doc: str

    @property
    def title(self) -> str:
        """Its name for people.

        >>> products()[0].title
        'Iris mug'
        """
        name = self.name.removeprefix(f"{self.kind}-").capitalize()
        return f"{name} {self.kind}"

    @property
    def looks(self) -> str:
        """What its picture shows.

        >>> products()[0].looks
        'small red mug'
        """
        return f"{self.size} {self.colour} {'' if self.pattern == 'solid' else self.pattern + ' '}{self.kind}"

    @property
    def summary(self) -> str:
        """Its colour, pattern and size."""
        return " · ".join(each for each in (self.colour, self.pattern, self.size) if each != "solid")

    def texts(self) -> tuple[str, str, str]:
        """What a search looks through: the title, what it is, and what is said of it."""
        return self.title, f"{self.room} {self.colour} {self.pattern} {self.size}", self.doc

    def features(self) -> dict[str, float | None]:
        """What a ranker is told, whatever is searched; not whose it is."""
        return {
            **{each: float(self.colour == each) for each in COLOURS},
            **{each: float(self.pattern == each) for each in PATTERNS},
            "size": math.log(SIZES[self.size]),
            "price": math.log(self.price),
            "stars": self.stars,
            "reviews": math.log1p(self.reviews),
            "age": math.log1p(self.age),
        }


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of product: where it belongs, what it usually costs, and what is said of it."""

    name: str
    room: str
    price: float
    said: tuple[str, ...]


@cache
def kinds() -> tuple[Kind, ...]:
    """The kinds of products.

    >>> [kind.name for kind in kinds()][:3]
    ['mug', 'teapot', 'bottle']
    """
    blocks = files("rankloop.demo").joinpath("product_kinds.txt").read_text("utf-8").split("\n\n")[1:]
    return tuple(_kind(block.strip().splitlines()) for block in blocks)


@cache
def products(seed: int = SEED) -> tuple[Product, ...]:
    """All that is sold: the same goods for the same seed.

    >>> len(products())
    576
    """
    rng = np.random.default_rng(seed)
    return tuple(product for kind in kinds() for product in _products(kind, rng))


def _products(kind: Kind, rng: np.random.Generator) -> Iterator[Product]:
    colours, patterns, sizes = (_dealt(values, rng) for values in (COLOURS, PATTERNS, tuple(SIZES)))
    for name, colour, pattern, size in zip(rng.permutation(NAMES), colours, patterns, sizes, strict=True):
        worth = rng.normal()  # above 0 it is finer than most
        price = max(round(kind.price * SIZES[size] * math.exp(0.35 * worth)), 2)
        said = rng.permutation(kind.said)[: rng.integers(2, len(kind.said) + 1)]
        yield Product(
            name=f"{kind.name}-{name.lower()}",
            kind=kind.name,
            room=kind.room,
            colour=colour,
            pattern=pattern,
            size=size,
            price=price,
            stars=round(float(np.clip(4.0 + 0.6 * rng.normal() + 0.1 * worth, 2.0, 5.0)), 1),
            reviews=int(np.exp(rng.normal(3.5, 1.1))),
            age=int(rng.integers(0, 37)),
            # Amber sells what is cheap, Birch what is fine, and each a little of the other.
            seller=AMBER if math.log(price / kind.price) + 0.15 * rng.normal() < 0 else BIRCH,
            doc=" ".join(map(str, said)),
        )


def _dealt(values: Sequence[str], rng: np.random.Generator) -> list[str]:
    """One value for each product of a kind: all of them about equally often, in any order."""
    return [str(each) for each in rng.permutation(list(islice(cycle(values), EACH)))]


def _kind(lines: Sequence[str]) -> Kind:
    name, _, rest = lines[0].removeprefix("[").partition("]")
    room, price = rest.split()
    return Kind(name, room, float(price), tuple(lines[1:]))
