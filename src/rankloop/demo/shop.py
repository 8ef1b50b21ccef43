"""Demo application: a search engine, the real service behind it, and visitors on demand."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import structs

from rankloop.demo.learned_words import Lesson, lesson
from rankloop.demo.product_search import Hit
from rankloop.demo.reasons import Reasons, reasons
from rankloop.demo.scene import Scene
from rankloop.demo.sellers import FAIR, LATELY, SELLERS, Seen, seen
from rankloop.demo.simulated_visitors import SHOWN, Crowd, Visit, candidates_of
from rankloop.errors import RequestError, SettingError, suggest_name
from rankloop.exposure import VIEW
from rankloop.service import FairSettings, Model, RankResponse, Result, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Impression

KEPT = 20_000  # visits whose grades are remembered
MOST_VISITORS = 5000  # at once


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A ranked list with what it shows."""

    response: RankResponse
    hits: Mapping[str, Hit]  # in the search engine's own order

    @property
    def plain(self) -> list[Hit]:
        """What the search engine alone would have shown."""
        return list(self.hits.values())[:SHOWN]

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

    service: ServiceFacade
    scene: Scene
    taste: str = ""  # of the visitors that came last: a name among the scene's tastes
    progress: Progress = field(default_factory=Progress)
    visits: deque[Visit] = field(default_factory=lambda: deque(maxlen=KEPT))
    crowds: int = 0  # that came so far: each has a seed of its own

    def __post_init__(self) -> None:
        """Create the ranker, if it is not there."""
        scene = self.scene
        if scene.ranker not in self.service.rankers():
            self.service.create(scene.ranker, scene.settings)
        self._first = self.service.store.read_decisions(scene.ranker)[0].seq
        self._one_crowd = threading.Lock()

    @property
    def model(self) -> Model:
        """What is known now from clicks."""
        return self.service.model(self.scene.ranker)

    def search(self, text: str, *, visitor: str) -> Found | None:
        """A list for a visitor; None if nothing is found."""
        hits = self.scene.corpus.search(text)
        if not hits:
            return None
        response = self.service.rank(
            candidates_of(hits), ranker=self.scene.ranker, k=SHOWN, user_query=text, session_id=visitor
        )
        return Found(response, {hit.entry.name: hit for hit in hits})

    def reasons(self, found: Found) -> Mapping[str, Reasons]:
        """Why each result of a list stands where it does; nothing if the model has changed meanwhile."""
        model = self.service.model(found.response.provenance.ranker)
        if model.version != found.response.provenance.model:
            return {}
        shown = self.service.audit(found.response.query_id).impression
        return reasons(model, self.service.schema(shown.ranker), shown)

    def click(self, query_id: str, object_id: str, *, visitor: str) -> Lesson:
        """Report a click on a result, learn from it at once, and say what was learned."""
        shown = self._list(query_id, object_id)
        position, before = shown.shown.index(object_id) + 1, self.model
        self.service.record([UserEvent(query_id, object_id, ordinal=position, client_id=visitor)])
        self.service.flush(self.scene.ranker)
        return lesson(before, self.model, self.service.schema(self.scene.ranker), shown.features)

    def _list(self, query_id: str, object_id: str) -> Impression:
        """A list of this shop in which a product was shown."""
        shown = self.service.audit(query_id).impression
        if shown.ranker != self.scene.ranker:
            raise RequestError(f"that list is of the ranker {shown.ranker!r}, expected {self.scene.ranker!r}")
        if object_id not in shown.shown:
            raise RequestError(f"{object_id!r} was not in that list")
        return shown

    # sellers

    @property
    def fair(self) -> bool:
        """Whether exposure is shared between the sellers."""
        return self.service.settings(self.scene.ranker).of(FairSettings) is not None

    def share_exposure(self, on: bool) -> None:
        """Hold lists to the sellers' shares, or do not any more; what was learned stays."""
        if on != self.fair:
            rules = self.service.settings(self.scene.ranker)
            self.service.configure(
                self.scene.ranker, structs.replace(rules, **{"fair": FAIR if on else None})
            )

    def ahead(self) -> dict[str, float]:
        """By how many looks each seller is ahead; empty if exposure is not shared, or nothing was shown."""
        account = self.service.account(self.scene.ranker)
        return {each: account[each] / VIEW for each in SELLERS if each in account}

    def seen(self) -> list[Seen]:
        """Who was seen in the last lists."""
        return seen(each for each in self.service.lists(self.scene.ranker, last=LATELY) if all(each.groups))

    # visitors

    def invite(self, number: int, taste: str) -> None:
        """Send for visitors; they come in a thread of their own, and `progress` says how far they are."""
        if taste not in self.scene.tastes:
            raise SettingError(f"no taste is called {taste!r}: {suggest_name(taste, self.scene.tastes)}")
        if not 1 <= number <= MOST_VISITORS:
            raise RequestError(f"1 to {MOST_VISITORS} visitors can come at once, found {number}")
        with self._one_crowd:
            if self.progress.running:
                raise RequestError("visitors are still on their way: wait for them")
            if taste != self.taste:
                self.visits.clear()  # what others liked says nothing about how lists fit these
            self.taste, self.progress = taste, Progress(wanted=number)
        threading.Thread(target=self._welcome, args=(self.progress,), name="crowd", daemon=True).start()

    def start_over(self) -> None:
        """Go back to the model that knows nothing; the log keeps everything."""
        self.service.rollback(self.scene.ranker, to=self._first)
        self.visits.clear()
        self.progress = Progress()

    def _welcome(self, progress: Progress) -> None:
        try:
            before, self.crowds, taste = self.model, self.crowds + 1, self.scene.tastes[self.taste]
            crowd = Crowd.of(
                self.service, self.scene.ranker, self.scene.corpus, taste, searches=self.scene.searches
            )
            for visit in crowd.visits(progress.wanted, seed=self.crowds):
                self.visits.append(visit)
                progress.done += 1
                if progress.done == progress.wanted - 1:  # so that it is there when all are
                    progress.lesson = lesson(before, self.model, self.service.schema(self.scene.ranker))
        except Exception as error:
            progress.trouble = f"{type(error).__name__}: {error}"[:200]
