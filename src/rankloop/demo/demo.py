"""Demo application: a search engine, the real service behind it, and visitors on demand."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from rankloop.demo.corpus import Corpus, Hit
from rankloop.demo.crowd import SHOWN, Crowd, Visit, candidates_of
from rankloop.demo.lesson import Lesson, lesson
from rankloop.demo.sellers import FAIR, LATELY, SELLERS, Seen, seen
from rankloop.demo.taste import TASTES
from rankloop.explorers.fair import LOOK
from rankloop.policies import ListNet
from rankloop.service import (
    Model,
    RankerSettings,
    RankingService,
    RankResponse,
    RequestError,
    Result,
    UserEvent,
)
from rankloop.service.ids import random_id
from rankloop.store import Impression
from rankloop.types import SettingError, suggestion

RANKER, THUMBS = "default", "thumbs"  # one learns from clicks, the other from thumbs
# The list begins as the search engine's own and departs from it by what is learned, hardly by luck alone.
SETTINGS = RankerSettings(max_explored_pairs=10, learn_late=True, snapshot_every=5)
# What nobody rated is unknown. A thumb has the value 1 or 0: a change of mind takes the other's place.
RATED = RankerSettings(
    policy=ListNet(), grades={"thumb": 4.0}, highest_grade=4.0, reading="explicit", snapshot_every=5
)
KEPT = 20_000  # visits whose grades are remembered
MOST_VISITORS = 5000  # at once


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A ranked list with what it shows."""

    response: RankResponse
    hits: Mapping[str, Hit]

    def __iter__(self) -> Iterator[tuple[Result, Hit]]:
        return ((result, self.hits[result.object_id]) for result in self.response.ranking)


@dataclass(slots=True)
class Progress:
    """How far the visitors are that were sent for, and what they taught once all were here."""

    wanted: int = 0
    done: int = 0
    trouble: str = ""
    lesson: Lesson | None = None

    @property
    def running(self) -> bool:
        """Whether some are still to come."""
        return self.done < self.wanted and not self.trouble


@dataclass(eq=False)
class Demo:
    """Everything behind the search page; any thread may call it."""

    service: RankingService
    corpus: Corpus
    taste: str = "short"  # of the visitors: a name in TASTES
    progress: Progress = field(default_factory=Progress)
    visits: deque[Visit] = field(default_factory=lambda: deque(maxlen=KEPT))
    crowds: int = 0  # that came so far: each has a seed of its own

    def __post_init__(self) -> None:
        """Begin the rankers that are not there."""
        for ranker, settings, mode in ((RANKER, SETTINGS, "explore"), (THUMBS, RATED, "exploit")):
            if ranker not in self.service.rankers():
                self.service.create(ranker, settings, mode=mode)  # type: ignore[arg-type]  # typed by text
        self._first = {each: self.service.store.decisions(each)[0].seq for each in (RANKER, THUMBS)}
        self._one_crowd = threading.Lock()

    @property
    def model(self) -> Model:
        """What is known now from clicks."""
        return self.service.model(RANKER)

    def search(self, text: str, *, visitor: str, ranker: str = RANKER) -> Found | None:
        """A list for a visitor; None if nothing is found."""
        hits = self.corpus.search(text)
        if not hits:
            return None
        response = self.service.rank(
            candidates_of(hits), ranker=ranker, k=SHOWN, user_query=text, session_id=visitor
        )
        return Found(response, {hit.entry.name: hit for hit in hits})

    def click(self, query_id: str, object_id: str, *, visitor: str) -> Lesson:
        """Report a click on a result, learn from it at once, and say what was learned."""
        shown = self._list(query_id, RANKER, object_id)
        position, before = shown.shown.index(object_id) + 1, self.model
        self.service.record([UserEvent(query_id, object_id, ordinal=position, client_id=visitor)])
        self.service.flush(RANKER)
        return lesson(before, self.model, self.service.schema(RANKER), shown.features)

    # thumbs: several in one list, and then they are learned together

    def thumb(self, query_id: str, object_id: str, *, up: bool, visitor: str) -> None:
        """Report a thumb up or down; another one on the same result takes its place."""
        position = self._list(query_id, THUMBS, object_id).shown.index(object_id) + 1
        event = UserEvent(
            query_id, object_id, "thumb", random_id(), position, client_id=visitor, value=float(up)
        )
        (receipt,) = self.service.record([event])
        if receipt.verdict != "accepted":
            raise RequestError(f"this list takes no more thumbs, search again: {receipt.detail}")

    def thumbs(self, query_id: str) -> dict[str, bool]:
        """The thumbs that a list has, by result: whether they are up."""
        events = self.service.audit(query_id).events
        return {each.object_id: bool(each.value) for each in events if each.verdict == "accepted"}

    def same_list(self, query_id: str) -> Found:
        """A list that a visitor is rating, as it was shown."""
        shown = self._list(query_id, THUMBS)
        hits = {hit.entry.name: hit for hit in self.corpus.search(shown.user_query)}
        if not hits.keys() >= set(shown.shown):
            raise RequestError("what that list showed is not there any more: search again")
        return Found(self.service.replay(query_id).response, hits)

    def learn_thumbs(self, query_id: str) -> Lesson:
        """Learn from the thumbs of a list, and say what was learned."""
        shown, before = self._list(query_id, THUMBS), self.service.model(THUMBS)
        self.service.flush(THUMBS)
        return lesson(before, self.service.model(THUMBS), self.service.schema(THUMBS), shown.features)

    def _list(self, query_id: str, ranker: str, object_id: str | None = None) -> Impression:
        """A list of a ranker in which a result was shown."""
        shown = self.service.audit(query_id).impression
        if shown.ranker != ranker:
            raise RequestError(f"that list is of the ranker {shown.ranker!r}, expected {ranker!r}")
        if object_id is not None and object_id not in shown.shown:
            raise RequestError(f"{object_id!r} was not in that list")
        return shown

    # sellers

    @property
    def fair(self) -> bool:
        """Whether exposure is shared between the sellers."""
        return self.service.settings(RANKER).fair is not None

    def share_exposure(self, on: bool) -> None:
        """Hold lists to the sellers' shares, or do not any more; what was learned stays."""
        if on != self.fair:
            rules = self.service.settings(RANKER)
            self.service.configure(RANKER, replace(rules, fair=FAIR if on else None))

    def ahead(self) -> dict[str, float]:
        """By how many looks each seller is ahead; empty if exposure is not shared, or nothing was shown."""
        account = self.service.account(RANKER)
        return {each: account[each] / LOOK for each in SELLERS if each in account}

    def seen(self) -> list[Seen]:
        """Who was seen in the last lists."""
        return seen(each for each in self.service.lists(RANKER, last=LATELY) if all(each.groups))

    # visitors

    def invite(self, number: int, taste: str) -> None:
        """Send for visitors; they come in a thread of their own, and `progress` says how far they are."""
        if taste not in TASTES:
            raise SettingError(f"no taste is called {taste!r}: {suggestion(taste, TASTES)}")
        if not 1 <= number <= MOST_VISITORS:
            raise RequestError(f"1 to {MOST_VISITORS} visitors can come at once, found {number}")
        with self._one_crowd:
            if self.progress.running:
                raise RequestError("visitors are still on their way: wait for them")
            self.taste, self.progress = taste, Progress(wanted=number)
        threading.Thread(target=self._welcome, args=(self.progress,), name="crowd", daemon=True).start()

    def start_over(self) -> None:
        """Go back to the models that know nothing; the log keeps everything."""
        for ranker, first in self._first.items():
            self.service.rollback(ranker, to=first)
        self.visits.clear()

    def _welcome(self, progress: Progress) -> None:
        try:
            before, self.crowds = self.model, self.crowds + 1
            crowd = Crowd.of(self.service, RANKER, self.corpus, TASTES[self.taste])
            for visit in crowd.visits(progress.wanted, seed=self.crowds):
                self.visits.append(visit)
                progress.done += 1
                if progress.done == progress.wanted - 1:  # so that it is there when all are
                    progress.lesson = lesson(before, self.model, self.service.schema(RANKER))
        except Exception as error:
            progress.trouble = f"{type(error).__name__}: {error}"[:200]
