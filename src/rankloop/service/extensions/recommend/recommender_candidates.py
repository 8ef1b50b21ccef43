"""Served recommender: a fitted model with its catalogue, that chooses candidates by taste."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from rankloop.errors import RequestError
from rankloop.recommend import (
    FittedRecommender,
    UserProfile,
    find_top_items,
    load_recommender,
    read_answers,
)
from rankloop.service.core.lists.candidate_columns import Candidates
from rankloop.service.extensions.recommend.part import RecommendPart
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest
from rankloop.short_text import check_texts
from rankloop.types import FloatArray, IntArray

FEATURES = ("recommender_score", "popularity", "praise", "from_rules", "from_past_items")
NO_NAMES: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ServedRecommender:
    """A recommender that feeds a ranker; it is only read, so any number of threads may ask it.

    Candidates come in its order, best first, with features of theirs by name: its score, what of it is from
    rules and from past items, how many reviewed the item, and which share of its mentions is praise.
    """

    fitted: FittedRecommender

    def find_profile(self, user: str, items: Iterable[str], answers: Mapping[str, str]) -> UserProfile | None:
        """Find the profile of a user that was learned from, or make one of items and answers.

        What is said in addition to what was learned is added; None: the model cannot place whom it has not
        learned from.
        """
        model, row = self.fitted.model, self._row(user)
        own = [self._item(name) for name in items]
        said = read_answers(self.fitted, answers) if answers else {}
        if row is not None and not own and not said:
            return model.profile_user(row)
        if not model.places_newcomers:
            return None
        past = [] if row is None else model.past(row).tolist()
        profile = model.profile_newcomer(list(dict.fromkeys([*past, *own])), said)
        return replace(profile, row=row)

    def candidates(self, request: RecommendRequest, profile: UserProfile) -> Candidates:
        """The best items that are neither known to the person nor excluded, in the recommender's order."""
        scores = np.array(self.fitted.model.score_profile(profile), float)
        scores[self._left_out(profile.items, request.exclude)] = -np.inf
        rows = find_top_items(scores[None], None, request.n_candidates)[0]
        rows = rows[rows >= 0]
        if not len(rows):
            raise RequestError("nothing is left to recommend: every item is known or excluded")
        return self._given(rows, self._features(profile, rows, scores[rows]))

    def popular(self, request: RecommendRequest) -> Candidates:
        """The items that most people reviewed, without features: what is shown when all else fails."""
        row = self._row(request.user)
        past = self.fitted.model.past(row) if row is not None else np.zeros(0, np.int64)
        gone = set(self._left_out(past, [*request.items, *request.exclude]).tolist())
        free = (row for row in map(int, self._by_popularity) if row not in gone)
        rows = list(islice(free, request.n_candidates))
        if not rows:
            raise RequestError("nothing is left to recommend: every item is known or excluded")
        return self._given(np.array(rows), np.empty((len(rows), 0)))

    def noted(self, request: RecommendRequest) -> RecommendPart:
        """What the log keeps, so that reasons can be given again."""
        answers = tuple(sorted(request.answers.items()))
        return RecommendPart(digest=self.fitted.digest, items=tuple(request.items), answers=answers)

    @cached_property
    def users(self) -> Mapping[str, int]:
        """Rows of users by name."""
        return {name: row for row, name in enumerate(self.fitted.catalogue.users)}

    @cached_property
    def items(self) -> Mapping[str, int]:
        """Rows of items by id."""
        return {name: row for row, name in enumerate(self.fitted.catalogue.items)}

    @cached_property
    def reviewers(self) -> FloatArray:
        """How many users reviewed each item, [n_items]."""
        return np.bincount(self.fitted.model.past_items, minlength=len(self.items)).astype(float)

    @cached_property
    def praise(self) -> FloatArray:
        """The share of praise among an item's mentions, with one more of each kind, [n_items]."""
        shop = self.fitted.catalogue
        good, bad = (np.asarray(each.sum(axis=1), float) for each in (shop.good, shop.bad))
        return np.asarray((good + 1) / (good + bad + 2))

    @cached_property
    def _by_popularity(self) -> IntArray:
        return np.argsort(-self.reviewers, kind="stable")

    def _features(self, profile: UserProfile, rows: IntArray, scores: FloatArray) -> FloatArray:
        parts = self.fitted.model.split_scores(profile, rows)
        rules, past = parts.sum_kind("rule"), parts.sum_kind("past item")
        return np.column_stack([scores, self.reviewers[rows], self.praise[rows], rules, past])

    def _given(self, rows: IntArray, values: FloatArray) -> Candidates:
        names = self.fitted.catalogue.items
        return Candidates(
            object_ids=[names[row] for row in rows.tolist()],
            names=FEATURES if values.shape[1] else NO_NAMES,
            values=values,
        )

    def _row(self, user: str) -> int | None:
        """The row of a user; who says no name is nobody, also if a review has none."""
        return self.users.get(user) if user else None

    def _item(self, name: str) -> int:
        if name not in self.items:
            known = ", ".join(self.fitted.catalogue.items[:3])
            raise RequestError(
                f"none of the {len(self.items)} items of the recommender is {name!r}: leave it out; "
                f"they are called {known}, ..."
            )
        return self.items[name]

    def _left_out(self, known: IntArray, excluded: Sequence[str]) -> IntArray:
        rows = [self.items[name] for name in excluded if name in self.items]
        return np.array([*known.tolist(), *rows], np.int64)


def served(recommender: FittedRecommender | Path | str) -> ServedRecommender:
    """A fitted recommender, or the file of one, ready to be asked; a file that holds none is refused."""
    fitted = recommender if isinstance(recommender, FittedRecommender) else load_recommender(recommender)
    found = ServedRecommender(fitted)
    check_texts("the id of an item", found.fitted.catalogue.items)
    _ = found.users, found.items, found.praise, found._by_popularity  # counted before requests
    return found
