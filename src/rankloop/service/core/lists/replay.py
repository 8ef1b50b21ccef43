"""Audit of a past list: everything that is known about it, and the list itself, made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankloop.policies import Random
from rankloop.service.core.configuration import Configuration, States
from rankloop.service.core.history import History
from rankloop.service.core.lists.candidate_columns import Candidates
from rankloop.service.core.lists.list_inputs import prepare_inputs
from rankloop.service.core.lists.make_list import MadeList, make_list
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.lists.rank_response import RankResponse
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_settings import BaseRankerSettings, Mode
from rankloop.service.core.scaling import WithinQuery
from rankloop.service.core.view import View
from rankloop.service.operations.people import was_deleted
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Event, Impression, Store, write
from rankloop.types import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What was shown, on what grounds, and what users did with it."""

    impression: Impression
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Replay:
    """A list made again, and whether it is the one that was shown, byte for byte."""

    response: RankResponse
    body: bytes  # the response as JSON
    identical: bool
    exposure: Any = None  # the part of fair exposure: what it gives to each group


def audit(store: Store, query_id: str) -> Audit:
    """Everything that is known about a past list."""
    if store.find_impression(query_id) is None:
        write(store, lambda transaction: transaction.find_shown(query_id))  # perhaps it is just being written
    impression = store.find_impression(query_id)
    if impression is None and was_deleted(store, query_id):
        raise HistoryError("this list was deleted on request, with everything that was known of it")
    if impression is None:
        raise HistoryError(f"no list is kept under the query_id {query_id!r}: it never was, or was discarded")
    return Audit(impression, store.find_events(query_id=query_id))


def replay(shown: Impression, history: History) -> Replay:
    """Make a past list again, from its inputs, the model, the settings and the account of its time."""
    made = make_again(shown, history)
    return Replay(made.response, made.body, _is_same(made, shown), made.impression.parts.get("fair"))


def make_again(shown: Impression, history: History) -> MadeList:
    """Make a past list again; extensions recall what was given to them from the parts that it keeps."""
    view, extensions = view_of(shown, history), history.registry.extensions
    given = {each.name: each.recall(shown.parts.get(each.name), view, history) for each in extensions}
    inputs = prepare_inputs(
        view,
        request_of(shown),
        shown.features,
        query_id=shown.query_id,
        seed=shown.seed,
        context=shown.context,
        fallback=shown.fallback,
    )
    return make_list(inputs, given, extensions, at=shown.at)


def find_swapped_pairs(shown: Impression, history: History, rows: IntArray) -> BoolArray | None:
    """Which pairs of these rows of a past list were swapped for fair exposure; `None`: it was not held."""
    told, fair = shown.parts.get("fair"), history.registry.get("fair")
    if told is None or told.within is None or fair is None:
        return None
    return fair.find_swapped(make_again(shown, history).draft, rows)


def view_of(shown: Impression, history: History) -> View:
    """What was decided and learned when a list was made; a fallback depended on neither policy nor model."""
    fair, trial = shown.parts.get("fair"), shown.parts.get("trial")
    states: States = {"fair": None if fair is None else fair.account}
    mode: Mode = shown.mode  # type: ignore[assignment]  # typed by text
    configuration = Configuration(settings_version=shown.settings, mode=mode, extension_states=states)
    if trial is not None:
        now = history.configuration_since(since=trial.trial)
        configuration = replace(configuration, schema=now.schema, context_schema=now.context_schema)
    if shown.fallback:
        settings = history.settings(shown.settings) if fair else BaseRankerSettings()
        model = Model(version=shown.model, policy=Random(), scale=WithinQuery())
        return View(configuration=replace(configuration, settings=settings), model=model)
    settings = history.settings(shown.settings)
    model = history.model(shown.model)
    return View(configuration=replace(configuration, settings=settings), model=model)


def request_of(shown: Impression) -> RankRequest:
    """What was asked for when a list was made."""
    pinned_at = shown.pinned_at.tolist()
    candidates = Candidates(
        object_ids=shown.object_ids,
        names=(),  # the features are by column already
        values=shown.features,
        pinned_at=pinned_at if any(pinned_at) else (),
        groups=shown.groups,
    )
    return RankRequest(
        ranker=shown.ranker,
        candidates=candidates,
        k=shown.k,
        user_query=shown.user_query,
        client_id=shown.client_id,
        session_id=shown.session_id,
        user=shown.user,
        recommended=shown.parts.get("recommend"),
    )


def _is_same(again: MadeList, shown: Impression) -> bool:
    """Equal to the bit; a list that was imported has no digest."""
    made = again.impression
    evidence = [{name: value.tobytes() for name, value in each.evidence.items()} for each in (made, shown)]
    alike = made.order.tolist() == shown.order.tolist() and evidence[0] == evidence[1]
    return alike and made.parts == shown.parts and shown.digest in (b"", made.digest)
