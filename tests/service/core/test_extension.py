"""Extensions: one that nobody knew takes part in lists, in the log and in replays, without a line of SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec import Struct

from rankloop.policies.policy_names import POLICIES
from rankloop.service import RankRequest, columns
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.extension import Extension, Registry
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.replay import replay
from rankloop.service.core.ranker import Ranker
from rankloop.service.extensions.registry import load_registry
from rankloop.service.store import Decision, PartTotal, PartType, SqliteStore, Store, write
from tests.support.life import Clock, make, some_candidates


class TopPart(Struct, frozen=True, array_like=True, tag=1):
    """What stood on top, and how often lists were turned by then."""

    top: str
    turned: int


def top_totals(part: TopPart) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    yield 0, part.top, (1, part.turned)


class Turned(Extension):
    """Turns every list of the policy round, since somebody decided it."""

    name = "turned"
    part = PartType("turned", TopPart, top_totals)

    def decide(self, state: int | None, decision: Decision, before: Configuration) -> int | None:
        return (state or 0) + 1 if decision.kind == "turn" else state

    def view_value(self, configuration: Configuration, learned: object, history: object) -> int | None:
        state: int | None = configuration.extension_states[self.name]
        return state

    def recall(self, part: TopPart | None, view: object, history: object) -> int | None:
        return None if part is None else part.turned

    def change(self, draft: ListDraft, given: int | None) -> ListDraft:
        if given is None or draft.source != "policy":
            return draft
        return replace(draft, rows=draft.complete()[::-1])

    def record(self, draft: ListDraft, given: int | None) -> TopPart | None:
        if given is None:
            return None
        return TopPart(draft.inputs.request.candidates.object_ids[draft.order[0]], given)


REGISTRY = Registry((*load_registry().extensions, Turned()))


def opened(store: Store) -> Ranker:
    store.register_parts(REGISTRY.part_types)
    return Ranker("shop", store, REGISTRY, POLICIES, Clock())


def shown_by(ranker: Ranker, number: int, query_id: str) -> str:
    candidates = columns(some_candidates(np.random.default_rng(number)))
    made = ranker.lists.prepare(RankRequest(ranker="shop", candidates=candidates, k=8), query_id)
    ranker.lists.publish(made)
    return made.response.object_ids[0]


def test_an_extension_that_nobody_knew_needs_no_line_of_sql(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        make(store).create("shop", mode="exploit")
        ranker = opened(store)
        plain = shown_by(ranker, 0, "plain")
        ranker.decide("turn")
        tops = [shown_by(ranker, number, f"q{number}") for number in (0, 1, 2)]
        assert tops[0] != plain
        write(store, lambda _: None)
    with SqliteStore(tmp_path / "log.db") as store:  # again, from the log alone
        ranker = opened(store)
        assert ranker.view.extension_values["turned"] == 1
        parts = [part for _, part, _ in store.read_parts("turned", "shop")]
        assert parts == [TopPart(top, 1) for top in tops]
        lists = list(store.read_impressions("shop"))
        assert all(replay(each, ranker.history).identical for each in lists)
        totals = [each for each in store.read_totals("shop") if each.extension == "turned"]
        counts = sorted((top, tops.count(top)) for top in set(tops))
        assert sorted(totals) == [PartTotal("turned", 0, top, (n, n)) for top, n in counts]
