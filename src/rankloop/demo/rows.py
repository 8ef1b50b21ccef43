"""Rows of the search pages: results as they are shown, before and after, and what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rankloop.charts import PALETTE
from rankloop.demo.pictures import picture_of
from rankloop.demo.products import COLOURS, Product, kinds, products
from rankloop.demo.reasons import Reasons
from rankloop.demo.sellers import FAIR, SELLERS, Seen
from rankloop.demo.shop import Demo, Found
from rankloop.demo.taste import LIKED
from rankloop.demo.visitor import Visitors
from rankloop.service import Result
from rankloop.service.pages.account import AccountBars, account_bars

SELLER_COLOURS = dict(zip(SELLERS, PALETTE, strict=False))


@dataclass(frozen=True, slots=True)
class PlainRow:
    """A result of plain search, and where it stands in the learned list."""

    position: int
    entry: Product
    picture: str
    now: int | None  # None: it is not shown
    liked: bool  # by the visitors that came last


@dataclass(frozen=True, slots=True)
class Row:
    """A result of the learned list."""

    result: Result
    entry: Product
    picture: str
    was: int  # where plain search had it
    liked: bool
    speaks_for: Sequence[str]  # it, in a word each
    speaks_against: Sequence[str]
    rival: str  # the neighbour to compare it with

    @property
    def up(self) -> int:
        """How many positions it went up from where plain search had it."""
        return self.was - self.result.position

    @property
    def because(self) -> tuple[str, Sequence[str], str]:
        """Why it stands where it does: a beginning, the words that say it, an end."""
        if self.up < 0 and self.speaks_against:
            return "against it:", self.speaks_against, ""
        if self.speaks_for:
            return "for", self.speaks_for, "; more speaks for others" if self.up < 0 else ""
        if self.up == 0:
            return "as plain search has it", (), ""
        way = "higher" if self.up > 0 else "lower"
        if self.result.open:
            return f"tried {way} than plain search has it, to find out", (), ""
        return f"what was {'above it went down' if self.up > 0 else 'below it went up'}", (), ""


@dataclass(frozen=True, slots=True)
class Sellers:
    """Who is seen, and the account if exposure is shared."""

    fair: bool
    seen: Sequence[Seen]
    account: AccountBars | None
    tolerance: float

    @classmethod
    def of(cls, demo: Demo) -> Sellers:
        """As of now."""
        ahead = demo.ahead()
        bars = account_bars(ahead, FAIR.tolerance, SELLER_COLOURS) if ahead else None
        return cls(demo.fair, demo.seen(), bars, FAIR.tolerance)


@dataclass(frozen=True, eq=False)
class DemoSite:
    """The demo and those who look at it."""

    demo: Demo
    visitors: Visitors


def plain_rows(demo: Demo, found: Found) -> list[PlainRow]:
    """What plain search would have shown."""
    now = {result.object_id: result.position for result in found.response.ranking}
    liked = _liked(demo, found)
    return [
        PlainRow(position, hit.entry, picture_of(hit.entry), now.get(hit.entry.name), hit.entry.name in liked)
        for position, hit in enumerate(found.plain, start=1)
    ]


def rows(demo: Demo, found: Found, why: Mapping[str, Reasons]) -> list[Row]:
    """The learned list as it is shown."""
    names, liked = found.response.object_ids, _liked(demo, found)
    was = {name: position for position, name in enumerate(found.hits, start=1)}
    return [
        Row(
            result=result,
            entry=hit.entry,
            picture=picture_of(hit.entry),
            was=was[result.object_id],
            liked=result.object_id in liked,
            speaks_for=why[result.object_id].speaks_for(demo.scene.words) if why else (),
            speaks_against=why[result.object_id].speaks_against(demo.scene.words) if why else (),
            rival=_rival(names, number),
        )
        for number, (result, hit) in enumerate(found)
    ]


def _liked(demo: Demo, found: Found) -> set[str]:
    """What the visitors that came last came for, among what was found."""
    if not demo.taste or not demo.visits:
        return set()
    grades = demo.scene.tastes[demo.taste].grades(list(found.hits.values()))
    return {name for name, grade in zip(found.hits, grades.tolist(), strict=True) if grade >= LIKED}


def _rival(names: Sequence[str], number: int) -> str:
    """The result below; of the last one, the result above."""
    other = number + 1 if number + 1 < len(names) else number - 1
    return names[other] if len(names) > 1 else ""


@cache
def shop_window() -> Sequence[tuple[str, str]]:
    """Of each kind of product a large one with its picture, each in another colour than the one before."""
    shown: list[Product] = []
    for number, kind in enumerate(kinds()):
        mine = [each for each in products() if each.kind == kind.name and each.size == "large"]
        wanted = COLOURS[-number % len(COLOURS)]
        shown.append(next((each for each in mine if each.colour == wanted), mine[0]))
    return [(each.kind, picture_of(each)) for each in shown]
