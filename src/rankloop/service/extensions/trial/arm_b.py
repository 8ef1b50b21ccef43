"""Opponent: arm B of a trial as it ranks, a model that stays as it is or the caller's own order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.service.core.configuration import Configuration
from rankloop.service.core.feature_schema import rename_columns
from rankloop.service.core.history import History
from rankloop.service.core.lists.placement import sort_by_score
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.model import Model, asker_of
from rankloop.service.extensions.trial.trial_state import Trial
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Opponent:
    """What arm B shows; without a model, the caller's own order."""

    trial: int  # whose arm it is
    model: Model | None = None
    configuration: Configuration | None = None  # whose schema the model's columns are; None: the ranker's own

    def order(
        self, request: RankRequest, raw: FloatArray, context: FloatArray, query_id: str, own: Configuration
    ) -> IntArray:
        """All candidates, the best first; `raw` and `context` are by column of the ranker's `own` schemas."""
        if self.model is None:
            return np.arange(request.n)
        if self.configuration is not None:
            wanted = self.configuration
            raw = rename_columns(raw, own.schema.columns, wanted.schema.columns)
            context = rename_columns(
                context[None], own.context_schema.columns, wanted.context_schema.columns
            )[0]
        candidates, asker = request.candidates, asker_of(request.user, context)
        policy, query = self.model.asked(query_id, raw, candidates.object_ids, candidates.groups, asker)
        return np.array(sort_by_score(policy.score(query)), dtype=np.int64)


def opponent_of(trial: Trial, history: History) -> Opponent:
    """Arm B of a trial of a ranker with this history: always the same, whoever asks and whenever."""
    settings, store, policy_kinds = trial.settings, history.store, history.policy_kinds
    if settings.ranker:
        other = History(settings.ranker, store, history.registry, policy_kinds)
        return Opponent(trial.number, other.model(trial.model), other.configuration(trial.number))
    if settings.policy is not None:
        if trial.number not in history.frozen:
            before = history.settings(trial.rules).with_policy(settings.policy)
            last = trial.number - 1
            fold = history.rebuild(history.spec(last, settings=before), last)
            history.frozen[trial.number] = fold.model.apart()
        return Opponent(trial.number, history.frozen[trial.number])
    return Opponent(trial.number)
