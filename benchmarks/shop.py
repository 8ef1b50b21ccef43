"""First visitors of a shop that switches rankloop on: how much of its own order do they still see.

`python -m benchmarks.shop` prints the tables: a shop of 200 candidates whose order is decent, and the
demo's shop under its hidden tastes, each with and without trust in the order that is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from msgspec import structs
from rich.console import Console
from rich.table import Table

from rankloop.caller_order import CallerOrder
from rankloop.candidate import Candidate
from rankloop.demo.product_scene import shop
from rankloop.demo.scene import Scene
from rankloop.demo.simulated_visitors import GRADE, Crowd, Visit
from rankloop.lab.users import PresetUser
from rankloop.policies import PairRank
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from rankloop.types import Query, Ranking

CANDIDATES, FEATURES, SHOWN = 200, 10, 10
VISITORS = (1, 3, 20, 100, 300)
SEEDS = range(10)
ASKED = 10  # searches of the demo
ORDERS: dict[str, CallerOrder] = {"ignores the order": None, "trusts the order": "decent"}


@dataclass(frozen=True)
class Seen:
    """A list that a visitor saw."""

    kept: float  # share of the shop's own first ten in it
    moved: float  # mean distance of its results from where the shop had them
    fit: float  # nDCG by what visitors like


def shop_lists(caller_order: CallerOrder, seed: int) -> Iterator[Seen]:
    """Lists of a shop whose order is mostly what visitors like: one shelf after the other, noisy."""
    rng = np.random.default_rng(seed)
    service = ServiceFacade(open_temporary_store(), clock=lambda: 0.0)
    service.create("shop", RankerSettings(policy=PairRank(caller_order=caller_order)))
    liking, user = rng.normal(size=FEATURES), PresetUser("navigational").for_grades(5)
    for visitor in range(max(VISITORS)):
        features = rng.random((CANDIDATES, FEATURES))
        liked = features @ liking + 0.5 * rng.normal(size=CANDIDATES)
        own = np.argsort(-(liked + liked.std() * rng.normal(size=CANDIDATES)))  # decent: half of it is noise
        features, liked = features[own], liked[own]
        grades = np.digitize(liked, np.quantile(liked, [0.6, 0.8, 0.9, 0.97]))
        names = [f"feature {number}" for number in range(FEATURES)]
        candidates = [
            Candidate(f"{visitor}-{row}", dict(zip(names, features[row].tolist(), strict=True)))
            for row in range(CANDIDATES)
        ]
        shown = service.rank(candidates, ranker="shop", k=SHOWN, session_id=str(visitor))
        order = np.array([int(name.split("-")[1]) for name in shown.object_ids])
        yield Seen((order < SHOWN).mean(), np.abs(order - np.arange(SHOWN)).mean(), GRADE(order, grades))
        clicks = user.respond(Ranking(Query("q", np.zeros((CANDIDATES, 1))), order), grades, rng).clicks
        service.record([UserEvent(shown.query_id, shown.object_ids[i]) for i in np.flatnonzero(clicks)])
        service.flush("shop")


def shop_table() -> Table:
    """Means over ten shops, at some visitors."""
    table = Table(title=f"a shop with {CANDIDATES} candidates, {len(SEEDS)} shops", box=None)
    headings = ("", "visitor", "own top ten shown", "mean displacement", "nDCG@10", "so far")
    for heading in headings:
        table.add_column(heading, justify="left" if not heading else "right")
    for name, caller_order in ORDERS.items():
        lives = [list(shop_lists(caller_order, seed)) for seed in SEEDS]
        for visitor in VISITORS:
            seen = [life[visitor - 1] for life in lives]
            means = (np.mean([getattr(each, part) for each in seen]) for part in ("kept", "moved", "fit"))
            kept, moved, fit = means
            so_far = np.mean([[each.fit for each in life[:visitor]] for life in lives])
            table.add_row(name, str(visitor), f"{kept:.0%}", f"{moved:.1f}", f"{fit:.3f}", f"{so_far:.3f}")
    return table


def demo_visits(caller_order: CallerOrder, taste: str, scene: Scene) -> Iterator[Sequence[Visit]]:
    """The first twenty lists of ten demos that are new, on ten searches."""
    searches = [text for text in scene.searches if len(scene.corpus.search(text)) > SHOWN][:ASKED]
    policy = scene.settings.policy
    assert isinstance(policy, PairRank)
    for seed in SEEDS:
        service = ServiceFacade(open_temporary_store(), clock=lambda: 0.0)
        service.create(
            scene.ranker, structs.replace(scene.settings, policy=replace(policy, caller_order=caller_order))
        )
        crowd = Crowd.of(service, scene.ranker, scene.corpus, scene.tastes[taste], searches=searches)
        yield list(crowd.visits(20, seed=seed))


def demo_table(scene: Scene) -> Table:
    """How well lists fit a taste that nobody told, and how well the search engine's own would have.

    Beside the means over all crowds, by how much the crowd with the worst luck was better off than with the
    search engine alone.
    """
    title = (
        f"{scene.title}: {ASKED} searches, first 20 lists, {len(SEEDS)} crowds: nDCG@10 by the hidden taste"
    )
    table = Table(title=title, box=None)
    for heading in ("taste", "search engine", *ORDERS, "gain", "worst crowd"):
        table.add_column(heading, justify="left" if heading == "taste" else "right")
    for taste in scene.tastes:
        found = [list(demo_visits(caller_order, taste, scene)) for caller_order in ORDERS.values()]
        own = np.mean([visit.own for crowd in found[0] for visit in crowd])
        fits = [np.mean([visit.fit for crowd in crowds for visit in crowd]) for crowds in found]
        gains = [np.mean([visit.fit - visit.own for visit in crowd]) for crowd in found[-1]]
        told = (f"{np.mean(gains):+.3f}", f"{np.min(gains):+.3f}")
        table.add_row(taste, f"{own:.3f}", *(f"{fit:.3f}" for fit in fits), *told)
    return table


if __name__ == "__main__":
    console = Console(width=120)
    console.print(shop_table())
    console.print(demo_table(shop()))
