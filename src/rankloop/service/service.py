"""Ranking service in one's own process: named rankers over one store, and an object for each task."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Self

from rankloop.policies import Policy
from rankloop.recommend import FittedRecommender
from rankloop.service.extensions.recommend.recommendations import Recommendations
from rankloop.service.extensions.trial.trials import Trials
from rankloop.service.operations.job_runner import Jobs
from rankloop.service.operations.retention import Retention, RetentionSettings
from rankloop.service.random_ids import random_id
from rankloop.service.reports.report_registry import Reports
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store
from rankloop.service.store.learner_election import ALONE, Election
from rankloop.service.store.store_address import open_store


class RankingService:
    """Ranks candidates, records what users did with the lists, and learns; its store holds all it knows.

    `where` is an address (the path of a file, or `postgresql://user@host:port/database`) or a store; without
    it, the store is a temporary file.

    - `policies`: policy classes of your own, found by their names.
    - `recommenders`: fitted recommenders, or files of `rankloop lab recommend fit`, by the name of the ranker
      that each feeds; the ranker is created if it does not exist.
    - `retention`: how much of the past the service keeps, if it works in the background.
    - `clock`, `ids`: time in seconds since 1970, and ids of lists; give your own to repeat a run exactly.
    - `background`: a thread learns and lets time pass. Otherwise `events.record` and `rankers.flush` learn
      before they return, and `tick` lets time pass.
    - `election`: which of several processes on one store writes snapshots; by default this is the only one.
    - `wait`: without it, logs are read in the background, and lists keep the caller's order until then.

    >>> from rankloop.candidate import Candidate
    >>> from rankloop.service import UserEvent
    >>> with RankingService(ids=iter("12345").__next__) as service:
    ...     service.rankers.create("shop")
    ...     mugs = [Candidate("red", {"price": 9}), Candidate("blue", {"price": 12})]
    ...     shown = service.lists.rank(mugs, ranker="shop", user_query="mug")
    ...     receipts = service.events.record([UserEvent(shown.query_id, "blue")])
    ...     service.rankers.flush("shop")  # instead of waiting until the list's window closes
    ...     receipts[0].verdict, service.reports.read("learned", ranker="shop").lists
    ('accepted', 1)
    """

    def __init__(
        self,
        where: str | Path | Store | None = None,
        *,
        policies: Iterable[type[Policy]] = (),
        recommenders: Mapping[str, FittedRecommender | Path | str] | None = None,
        retention: RetentionSettings | None = None,
        clock: Callable[[], float] = time.time,
        ids: Callable[[], str] = random_id,
        background: bool = False,
        election: Election = ALONE,
        wait: bool = True,
    ) -> None:
        self._opened = where is None or isinstance(where, str | Path)
        self.store = open_store(where) if where is None or isinstance(where, str | Path) else where
        try:
            self.facade = ServiceFacade(
                self.store,
                clock=clock,
                ids=ids,
                background=background,
                policies=policies,
                recommenders=recommenders,
                election=election,
                wait=wait,
                retention=retention,
            )
        except BaseException:
            self._close_store()
            raise
        facade = self.facade
        self.rankers, self.lists, self.events = facade.collection, facade.list_service, facade.event_service
        self.reports, self.jobs, self.people = Reports(self.facade), Jobs(self.facade), facade.people
        self.keys, self.retention = self.facade.keys, Retention(self.facade)
        self.trials, self.recommendations = Trials(self.facade), Recommendations(self.facade)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def tick(self) -> None:
        """Let time pass: close the lists that are due, learn from them, and go on with jobs."""
        self.facade.tick()

    def close(self) -> None:
        """Stop learning and save what was learned; a store that was given as an object stays open."""
        self.facade.close()
        self._close_store()

    def _close_store(self) -> None:
        if self._opened:
            self.store.close()
