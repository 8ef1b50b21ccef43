"""A service in process as the golden records see it: what is done to it, and what it tells, in numbers.

Like the second half of `requests.py` this file is a cover over today's names: whoever renames or moves
something in the service edits it, and no record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankloop.lab.data.review_data import AccessoryShop as ReviewedShop
from rankloop.lab.recommenders import FMF
from rankloop.recommend import (
    IALS,
    Catalogue,
    EvidenceALS,
    FacT,
    FittedRecommender,
    MostPopular,
    Recommender,
)
from rankloop.service import RecommendRequest, UserEvent
from rankloop.service.extensions.promise.fold_part import Standing
from rankloop.service.extensions.promise.report import promise_report
from rankloop.service.reports.clicks_needed import clicks_needed
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore
from tests.golden.requests import (
    LEARNERS,
    LEVELS,
    MODE_NAMES,
    Act,
    Asked,
    Comparing,
    Made,
    Mode,
    World,
    numbers_of,
    rank_request,
    ranker_settings,
    trial_settings,
)

VERDICTS = ("accepted", "duplicate", "late", "orphan", "not_shown", "ignored", "invalid", "held")


class Shop:
    """A service over a file, with a clock that goes when told to; every list is durable when it is given."""

    def __init__(self, path: Path, recommenders: Mapping[str, str] | None = None) -> None:
        self.path, self.now = path, 1000.0
        self.recommenders = recommenders or {}
        self.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def open(self) -> None:
        self.store = SqliteStore(self.path)
        self.service = ServiceFacade(
            self.store,
            clock=lambda: self.now,
            ids=iter(map(str, range(10**9))).__next__,
            recommenders={name: fitted(kind) for name, kind in self.recommenders.items()},
        )

    def close(self) -> None:
        self.service.close()
        self.store.close()

    def restart(self) -> None:
        self.close()
        self.open()

    # what is done

    def create(self, world: World, ranker: str = "shop") -> None:
        self.service.create(ranker, ranker_settings(world), mode=MODE_NAMES[world.mode])

    def rank(self, asked: Asked, ranker: str = "shop") -> Made:
        request = rank_request(asked, ranker)
        response = self.service.rank(
            request.candidates,
            ranker=ranker,
            k=request.k,
            user_query=request.user_query,
            client_id=request.client_id,
            session_id=request.session_id,
            query_id=request.query_id,
            user=request.user,
            context=request.context,
        )
        return numbers_of(response, self.service.audit(response.query_id).impression)

    def record(self, acts: Iterable[Act]) -> list[int]:
        """Send what users did; the verdicts."""
        events = [
            UserEvent(f"q{act.list}", f"d{act.id}", act.action, event_id=f"e{act.number}", value=act.value)
            for act in acts
        ]
        return [VERDICTS.index(each.verdict) for each in self.service.record(events)]

    def tick(self) -> None:
        self.service.tick()

    def flush(self, ranker: str = "shop") -> None:
        self.service.flush(ranker)

    def set_mode(self, mode: Mode) -> None:
        self.service.set_mode("shop", MODE_NAMES[mode])

    def begin_trial(self, comparing: Comparing) -> int:
        return self.service.start_trial("shop", trial_settings(comparing))

    def stop_trial(self, trial: int) -> None:
        self.service.stop_trial("shop", trial)

    def version(self) -> int:
        """A handle by which `roll_back` returns to what is known now."""
        return self.service.model("shop").version

    def roll_back(self, version: int) -> None:
        assert self.service.rollback("shop", to=version).done

    def forget(self, acts: Iterable[Act]) -> None:
        assert self.service.forget("shop", [f"e{act.number}" for act in acts]).done

    def retire(self, columns: Iterable[int]) -> None:
        assert self.service.retire_features("shop", [f"f{column}" for column in columns]).done

    def decide(self, world: World, *, relearn: bool = False) -> None:
        self.service.configure("shop", ranker_settings(world), relearn=relearn)

    # what it knows

    def learned(self, ranker: str = "shop") -> list[Any]:
        """All that was learned: the policy's arrays, the scale's, and from how many lists and features."""
        model = self.service.model(ranker)
        return [[*model.policy.state().values()], [*model.scale.state().values()], model.lists, model.width]

    def budget(self) -> list[Any] | None:
        """The account of a promise, in its declared order, and the searches that are open."""
        standing = self.service.ranker("shop").fold.values.get("promise")
        if not isinstance(standing, Standing):
            return None
        return [*astuple(standing.account), standing.pending, standing.free]

    def accounts(self) -> list[list[int]]:
        """By how many millionths of a view each group is ahead."""
        ahead = self.service.account("shop")
        return sorted([0 if name == "others" else int(name[1:]), views] for name, views in ahead.items())

    def is_replayed(self, number: int) -> bool:
        return self.service.replay(f"q{number}").identical

    # what it tells

    def explain(self, number: int, upper: int, lower: int) -> dict[str, Any]:
        """Why one result stands above another."""
        found = self.service.explain(f"q{number}", f"d{upper}", f"d{lower}")
        parts = found.contributions.items()
        return {
            "gap": found.gap,
            "deviation": found.width,
            "probability": found.probability,
            "level": level_of(found.certainty),
            "flags": [found.explored, found.pinned, found.open],
            "reason": 1 if found.promised else 2 if found.mixed else 3 if found.turned else 0,
            "effects": [[column_of(name), part] for name, part in sorted(parts, key=column_first)],
        }

    def settled(self, number: int) -> dict[str, Any]:
        """What was settled among the results of a list."""
        found = self.service.settled(f"q{number}")
        return {
            "scores": found.scores,
            "probabilities": found.probabilities,
            "levels": found.grades and [[level_of(each) for each in row] for row in found.grades],
            "open": found.open,
            "swapped": found.turned,
            "blocks": [[int(name[1:]) for name in block] for block in found.blocks],
            "counts": [found.pairs, found.settled_pairs, found.open_pairs, found.turned_pairs],
        }

    def weights(self) -> dict[str, Any]:
        """What features are worth, by column."""
        found = self.service.learned("shop")
        return {
            "weights": [
                [column_of(each.feature), each.weight, each.spread, each.probability]
                for each in sorted(found.weights, key=lambda each: column_of(each.feature))
            ],
            "levels": [
                level_of(each.certainty)
                for each in sorted(found.weights, key=lambda each: column_of(each.feature))
            ],
            "known": [found.lists, found.exact],
        }

    def weights_since(self, version: int) -> dict[str, Any]:
        """What features were worth in a version, and are worth now."""
        found = self.service.learned_between("shop", version)
        changes = sorted([column_of(each.feature), each.before, each.after] for each in found.changes)
        return {"changes": changes, "lists": found.lists}

    def query(self, words: int) -> dict[str, Any]:
        """What is known of a query."""
        found = self.service.query_report("shop", f"words {words}")
        return {
            "counts": [found.lists, found.clicked, found.moved, found.pairs, found.settled, found.needed],
            "rates": [found.ctr, found.mrr],
            "results": [
                [int(each.object_id[1:]), each.own_position, each.score, each.shown, each.clicks]
                for each in found.results
            ],
            "unsettled": [
                [int(each.above[1:]), int(each.below[1:]), each.probability, level_of(each.grade), each.open]
                for each in found.unsettled
            ],
            "needs": [each.needs and astuple(each.needs) for each in found.unsettled],
        }

    def promise(self) -> dict[str, Any]:
        """How a promise stands."""
        found = promise_report(self.service.ranker("shop"))
        assert found is not None
        return {
            "searches": [found.searches, found.pending, found.held, found.owned, found.learned, found.free],
            "rates": [found.own_rate, found.learned_rate],
            "budget": [found.budget, found.room, found.spent],
        }

    def trial(self, number: int) -> dict[str, Any]:
        """What a trial has shown of the outcome that decides."""
        found = next(each for each in self.service.trials("shop") if each.trial == number)
        outcome = found.outcomes[0]
        return {
            "counts": [found.lists, found.waiting, outcome.sessions, *found.sessions.values()],
            "means": [outcome.a, outcome.b, outcome.even],
            "interval": [outcome.estimate, outcome.lower, outcome.upper],
            "course": [
                [each.sessions, each.at, each.estimate, each.lower, each.upper] for each in found.points[::12]
            ],
        }

    def exposure(self) -> dict[str, Any]:
        """What each group got since the beginning, and its account."""
        found = self.service.exposure("shop", since=0.0)
        total, account = found.total, found.account
        groups = sorted(total.groups, key=lambda each: each.group)
        accounts = sorted(account.groups if account else (), key=lambda each: each.group)
        return {
            "counts": [total.lists, total.held, total.outside],
            "ratios": [total.turned, total.impact_ratio],
            "groups": [
                [
                    each.lists,
                    each.candidates,
                    each.results,
                    each.granted,
                    each.due,
                    each.clicks,
                    each.share_of_exposure,
                    each.share_due,
                    each.share_of_candidates,
                    each.share_of_clicks,
                    each.clicks_per_look,
                    each.fulfilled,
                    each.impact_ratio,
                ]
                for each in groups
            ],
            "accounts": [
                [each.lists, each.candidates, each.granted, each.due, each.lapsed, each.ahead]
                for each in accounts
            ],
        }

    def evaluate(self, learner: str = "", *, ranker: str = "", depth: int, learning: bool) -> dict[str, Any]:
        """How many clicks another learner, or another ranker, would have got."""
        policy = LEARNERS[learner]() if learner else None
        found = self.service.what_if("shop", policy, other=ranker, depth=depth, explore=learning)
        by_name = {each.name: [each.value, each.lower, each.upper] for each in found.estimates}
        names = ("whole lists", "importance-weighted", "self-normalised", "doubly robust")
        return {
            "estimates": [by_name.get(name, by_name["importance-weighted"]) for name in names],
            "logged": [found.logged, found.effective],
            "lists": [found.lists, found.learned],
        }

    def recommend(
        self, number: int, ranker: str, *, user: int | None, items: Sequence[int], answers: Mapping[str, str]
    ) -> dict[str, Any]:
        """A recommended list, and why its results were chosen."""
        found = self.service.recommend(
            RecommendRequest(
                ranker=ranker,
                user="" if user is None else f"user {user}",
                items=[f"item {each}" for each in items],
                answers=answers,
                k=8,
                n_candidates=15,
                query_id=f"q{number}",
                session_id=f"s{number % 7}",
            )
        )
        shown = self.service.audit(f"q{number}").impression
        past = self.service.reasons(f"q{number}").reasons
        assert past == found.reasons
        return {
            "candidates": [item_of(each) for each in shown.object_ids],
            "features": shown.features,
            "order": shown.order,
            "scores": [each.score for each in found.ranking],
            "reasons": [
                [each.score, [[part.amount, part.share] for part in each.parts]] for each in found.reasons
            ],
        }

    def interview(self, ranker: str, likes: Iterable[str]) -> tuple[dict[str, str], list[list[int]]]:
        """Answer all questions as someone who likes these; the answers, and what was told after each."""
        answers: dict[str, str] = {}
        told: list[list[int]] = []
        liked = set(likes)
        while True:
            found = self.service.interview(ranker, answers)
            told.append([found.done, found.answered, found.questions_left, found.similar_users])
            if found.question is None:
                return answers, told
            name = found.question.question
            answers[name] = "much" if name.partition(":")[2] in liked else "little"

    def click_recommended(self, act: int, number: int, position: int) -> None:
        """A click on a result of a recommended list."""
        shown = self.service.audit(f"q{number}").impression
        name = shown.shown[min(position, len(shown.shown)) - 1]
        self.service.record([UserEvent(f"q{number}", name, event_id=f"e{act}")])


def forecast(gap: float, deviation: float) -> list[int] | None:
    """How many clicks settle a pair: median, low and high."""
    found = clicks_needed(gap, deviation)
    return None if found is None else [found.median, found.low, found.high]


def level_of(certainty: str | None) -> int | None:
    """How certain an order is, from 0 to 2."""
    return None if certainty is None else LEVELS.index(certainty)


def column_of(feature: str) -> int:
    """The column of a feature; -1: the caller's own order."""
    return int(feature[1:]) if feature[1:].isdigit() else -1


def column_first(part: tuple[str, float]) -> int:
    """Sorts effects by column."""
    return column_of(part[0])


def item_of(name: str) -> int:
    """The number of an item."""
    return int(name.removeprefix("item "))


RECOMMENDERS: Mapping[str, Recommender] = {
    "tree": FacT(d=8, depth=3, min_leaf=10),
    "likes": FMF(d=8, depth=3, min_leaf=10),
    "als": IALS(d=8),
    "evidence": EvidenceALS(d=8),
    "popular": MostPopular(),
}


@cache
def fitted(kind: str) -> FittedRecommender:
    """Fit a recommender to the reviews of a small shop."""
    reviews = ReviewedShop(users=150, items=60).reviews()
    model = RECOMMENDERS[kind].fit(reviews, np.random.default_rng(5))
    return FittedRecommender(model, Catalogue.of(reviews), digest=f"digest of {kind}")
