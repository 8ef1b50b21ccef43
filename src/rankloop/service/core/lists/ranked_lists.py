"""Lists of a ranker: made from what is in force and known, counted when they are shown, and written down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from rankloop.errors import RequestError
from rankloop.service.core.compute_turns import LIST, Turns
from rankloop.service.core.extension import Extension
from rankloop.service.core.lists.list_inputs import NO_CONTEXT, prepare_inputs
from rankloop.service.core.lists.list_job import describe_failure
from rankloop.service.core.lists.list_seeds import sticky_seed
from rankloop.service.core.lists.make_list import MadeList, make_list
from rankloop.service.core.lists.rank_request import RankRequest, context_by_column
from rankloop.service.core.view import View
from rankloop.service.operator_log import warn_operator
from rankloop.service.store import ConnectionLost, Impression, ImpressionBuffer, Store
from rankloop.types import FloatArray

LOGGER = logging.getLogger("rankloop.service")
NewNames: TypeAlias = Mapping[Literal["schema", "context"], Sequence[str]]


class HasViews(Protocol):
    """A ranker, as far as its lists need it."""

    name: str

    @property
    def view(self) -> View:
        """What was decided and learned."""
        ...

    def extend(self, names: NewNames) -> View:
        """Add features that were never seen, and return a view that has them."""
        ...

    def find_fault(self) -> str:
        """Return why lists cannot be made just now; empty, as a rule."""
        ...


class RankedLists:
    """Makes lists by the view of the moment, and has them written down.

    `holding` are those whose lists wait, because the store is away.
    """

    def __init__(
        self,
        ranker: HasViews,
        store: Store,
        clock: Callable[[], float],
        turns: Turns,
        extensions: Sequence[Extension],
        holding: set[RankedLists],
    ) -> None:
        self.name, self._store, self._clock, self._turns = ranker.name, store, clock, turns
        self._ranker, self._holding = ranker, holding
        self.unlogged = 0  # lists that could not be written down
        self.losing = False  # the last of them could not
        self._extensions = extensions
        self.live_states = {each.name: each.live(ranker.name, store, clock) for each in extensions}
        held = partial(holding.add, self)
        self.buffer = ImpressionBuffer(store, lost=self._lost, left=self._left, held=held)
        self._usual: tuple[Sequence[str], Mapping[str, int]] = (), {}  # names that are a schema's columns

    def prepare(self, request: RankRequest, query_id: str) -> MadeList:
        """Make a list; nothing is written down but new features."""
        self._check_size(request)
        view, raw = self._features(request)
        context = NO_CONTEXT
        if request.context or view.configuration.context_schema.columns:
            context = context_by_column(request.context, view.configuration.context_schema.columns)
        person = request.session_id or request.client_id
        words = (person, request.user_query) if person else (query_id,)
        seed, at = sticky_seed(self.name, *words), self._clock()
        prepare = partial(prepare_inputs, view, request, raw, query_id=query_id, seed=seed, context=context)
        given = self._give(view, request, query_id, at)
        make = partial(make_list, given=given, extensions=self._extensions, at=at)
        with self._turns.take(LIST):
            try:
                made = make(prepare(fallback=self._ranker.find_fault() or view.fault))
            except Exception as error:  # whatever it is, the caller gets a list
                made = make(prepare(fallback=describe_failure(error)))
        return made

    def shown_elsewhere(self, request: RankRequest) -> MadeList:
        """A list that was shown elsewhere as it came, for this ranker to learn from as far as it can.

        It is made without extensions: it belongs to no trial, and counts for no account.
        """
        self._check_size(request)
        view, raw = self._features(request)
        name = request.query_id or ""
        shadow = View(configuration=replace(view.configuration, mode="shadow"), model=view.model)
        inputs = prepare_inputs(shadow, request, raw, query_id=name, seed=sticky_seed(self.name, name))
        return make_list(inputs, {}, (), at=self._clock())

    def fall_back(self, request: RankRequest, query_id: str, reason: str) -> MadeList:
        """The caller's own order, when there is no time or no way to make a list; features have no part."""
        self._check_size(request)
        nothing, seed = np.empty((request.n, 0)), sticky_seed(self.name, query_id)
        view, at = self._ranker.view, self._clock()
        inputs = prepare_inputs(view, request, nothing, query_id=query_id, seed=seed, fallback=reason)
        return make_list(inputs, self._give(view, request, query_id, at), self._extensions, at=at)

    def _give(self, view: View, request: RankRequest, query_id: str, at: float) -> dict[str, Any]:
        """What extensions know beside the request."""
        states = self.live_states.items()
        return {name: each.give(request, view, query_id, at) for name, each in states}

    def publish(self, made: MadeList, *, urgent: bool = False) -> MadeList:
        """Have a list written down, without waiting: it is no promise that anything is learned from it.

        If nothing can be written just now, nothing is queued, and the list that is given back says so.
        """
        if away := self._store.describe_outage():
            return self._unwritten(made, away)
        self._show(made.impression)
        self.buffer.put(made.impression, urgent=urgent)
        return made

    def write_down(self, made: MadeList) -> Future[None]:
        """The same for someone who waits until the list is durable."""
        if away := self._store.describe_outage():
            self._unwritten(made, away)
            raise ConnectionLost(away)
        self._show(made.impression)
        return self.buffer.put_durably(made.impression)

    def resume(self) -> None:
        """Have lists written that were held up when the connection to the store was lost."""
        self._holding.discard(self)  # first: should they be held up again, it is there again
        self.buffer.resume()

    def _features(self, request: RankRequest) -> tuple[View, FloatArray]:
        """The candidates' features, and the view whose columns they and those of who asks have."""
        view, candidates = self._ranker.view, request.candidates
        names, schema = self._usual
        columns = view.configuration.schema.columns
        usual = candidates.names is names and columns is schema  # nothing to look up
        unknown = [] if usual else candidates.new_names(columns)
        asking = view.configuration.context_schema.missing(request.context)
        if unknown or asking:
            view = self._ranker.extend({"schema": unknown, "context": asking})
        elif usual:
            return view, candidates.values
        raw = candidates.by_column(view.configuration.schema.columns, len(view.configuration.schema.names))
        if raw is candidates.values and isinstance(candidates.names, tuple):
            self._usual = candidates.names, view.configuration.schema.columns
        return view, raw

    def _check_size(self, request: RankRequest) -> None:
        most = self._ranker.view.configuration.settings.max_candidates
        if request.n > most:
            raise RequestError(f"expected 1 to {most} candidates, found {request.n}")

    def _show(self, shown: Impression) -> None:
        """Count a list that is shown now, before it is written."""
        for each in self.live_states.values():
            each.show(shown)

    def _unwritten(self, made: MadeList, reason: str) -> MadeList:
        """A list that is shown, although it cannot be written."""
        self._lost(1)
        self._show(made.impression)
        self._left([made.impression], written=False)
        return made.unlogged(reason[:200])

    def _left(self, lists: Sequence[Impression], written: bool) -> None:
        """Lists do not wait any more; one that was written down says that it can be done again."""
        self.losing = self.losing and not (written and lists)
        for each in self.live_states.values():
            each.settle(lists, written)

    def _lost(self, lists: int) -> None:
        """Some could not be written down, but were shown: a list is better than none."""
        if not self.losing:
            warn_operator(
                LOGGER,
                "lists are shown and cannot be written down: clicks on them will be orphans",
                where=f"ranker {self.name!r}",
                why="the store refuses them, or takes no more",
                do="look at the disk or the database, and at rankloop_jobs_waiting",
            )
        self.unlogged, self.losing = self.unlogged + lists, True
