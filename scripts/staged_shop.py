"""Staged shop for pictures: a week of simulated traffic, a finished trial, decisions by named keys, mistakes.

Nothing in it is made up but the visitors: lists, clicks, purchases and decisions go through the real service,
whose clock is turned back by a week and run quickly.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from rankloop.demo.product_scene import SEARCHES, shop
from rankloop.demo.products import Product
from rankloop.demo.sellers import FAIR
from rankloop.demo.simulated_visitors import SHOWN, Crowd, Topic
from rankloop.demo.taste import Taste
from rankloop.lab.users import Cascade
from rankloop.policies import PairRank
from rankloop.service import GuardrailSettings, RankerSettings, TrialSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store
from rankloop.types import Query, Ranking

DAY = 86_400.0
SHOP, MARKET = "shop", "market"
LIKED = Taste("cheap and well rated", lambda x: 0.65 * (1 - x["price"]) + 0.35 * x["stars"] ** 2)
VISITORS = Cascade(click=(0.01, 0.03, 0.08, 0.25, 0.5), stop=(0.1, 0.2, 0.4, 0.6, 0.8))
SETTINGS = RankerSettings(
    policy=PairRank(caller_order="decent", prior=0.8),
    actions={"click": 1.0, "purchase": 1.0},
    guardrails=GuardrailSettings(max_displacement=6),
)
AT_ONCE = 10  # visitors whose clicks are learned together


@dataclass
class Clock:
    """A clock that is behind until it is set right."""

    behind: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return time.time() - self.behind


@dataclass
class StagedShop:
    """A service with a past, and the key of someone who runs it."""

    store: Store
    clock: Clock = field(default_factory=Clock)
    key: str = ""
    visits: int = 0

    def __post_init__(self) -> None:
        """Let the week pass."""
        self.rng = np.random.default_rng(7)
        self.service = ServiceFacade(self.store, clock=self.clock)
        self.topics = Crowd.of(self.service, SHOP, shop().corpus, LIKED, searches=SEARCHES[:14]).topics

    def live(self) -> None:
        """A week: unseen first, then learning, a trial, and what was decided on the way."""
        service, self.clock.behind = self.service, 6 * DAY
        service.keys.begin()
        self.key = service.keys.create("anna", "admin", by="admin", reason="runs the search")
        service.keys.create("ben", "admin", by="anna", reason="looks after it, too")
        service.create(SHOP, SETTINGS, mode="shadow")
        service.create(MARKET, replace(SETTINGS, fair=FAIR))
        self.pass_by(SHOP, 200, days=0.5)
        service.set_mode(SHOP, "explore", by="anna", reason="half a day of watching looked fine")
        self.pass_by(SHOP, 500, days=1.5)
        plan = TrialSettings(share=0.5)
        trial = service.start_trial(SHOP, plan, by="ben", reason="is it worth it?")
        self.pass_by(SHOP, 1400, days=2.5)
        service.stop_trial(SHOP, trial, by="ben", reason="the interval is above zero")
        self.pass_by(SHOP, 100, days=0.2)
        calmer = service.patched(SHOP, {"guardrails": {"max_displacement": 3}})
        service.configure(SHOP, calmer, by="anna", reason="calmer lists before the sale")
        self.pass_by(SHOP, 400, days=0.6)
        self.pass_by(MARKET, 260, days=0.6)
        self.clock.behind = 0.0

    def pass_by(self, ranker: str, number: int, *, days: float) -> None:
        """So many visitors, evenly over these days."""
        for start in range(0, number, AT_ONCE):
            for _ in range(min(AT_ONCE, number - start)):
                self.visit(ranker)
                self.clock.behind -= DAY * days / number
            self.service.flush(ranker)

    def visit(self, ranker: str) -> None:
        """Someone searches, clicks, and perhaps buys something."""
        self.visits += 1
        visitor = f"visitor-{self.visits}"
        topic: Topic = self.topics[int(self.rng.integers(len(self.topics)) * self.rng.random())]
        shown = self.service.rank(
            topic.candidates, ranker=ranker, k=SHOWN, user_query=topic.text, client_id=visitor
        )
        rows = {each.object_id: row for row, each in enumerate(topic.candidates)}
        order = np.array([rows[name] for name in shown.object_ids])
        query = Query(topic.text, np.zeros((len(rows), 1)))
        clicks = VISITORS.respond(Ranking(query, order), topic.grades, self.rng).clicks
        events = []
        for index in np.flatnonzero(clicks).tolist():
            name, said = shown.object_ids[index], {"ordinal": index + 1, "client_id": visitor}
            events.append(UserEvent(shown.query_id, name, **said))
            product = topic.hits[rows[name]].entry
            if isinstance(product, Product) and self.rng.random() < 0.12 * topic.grades[rows[name]]:
                events.append(UserEvent(shown.query_id, name, "purchase", **said, value=float(product.price)))
        self.service.record(events)

    def go_wrong(self) -> None:
        """What a doctor finds: an action without a weight, positions from 0, a robot, and a monitor."""
        for number in range(240):
            topic = self.topics[number % len(self.topics)]
            shown = self.service.rank(
                topic.candidates, ranker=MARKET, k=SHOWN, user_query=topic.text, client_id=f"app-{number}"
            )
            first, second = shown.object_ids[:2]
            told = [UserEvent(shown.query_id, second, ordinal=1, client_id=f"app-{number}")]
            told += [UserEvent(shown.query_id, second, "wishlist", client_id=f"app-{number}")]
            told += [UserEvent(shown.query_id, first, client_id="crawler-17")]
            told += [UserEvent("undefined", first, client_id=f"app-{number}")] if number % 6 == 0 else []
            self.service.record(told)
        for _ in range(60):
            topic = self.topics[0]
            self.service.rank(topic.candidates, ranker=MARKET, session_id="uptime-check")
        self.service.flush(MARKET)
