"""Logged rounds of a service: its lists of one ad, with their propensities and clicks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankloop.evaluation import LoggedRounds
from rankloop.types import BoolArray, DataError, FloatArray

if TYPE_CHECKING:
    from rankloop.service import RankingService
    from rankloop.store import Impression


def rounds_in(data_dir: Path, ranker: str) -> LoggedRounds:
    """The rounds in the folder of a service that is not running."""
    from rankloop.service import RankingService  # noqa: PLC0415
    from rankloop.service.data_dir import DataDirectory  # noqa: PLC0415

    with DataDirectory(data_dir).open() as store:
        return rounds_of(RankingService(store), ranker)


def rounds_of(service: RankingService, ranker: str) -> LoggedRounds:
    """The lists of one result that a policy drew as it wished, once their windows have closed."""
    rules, store = service.settings(ranker), service.store
    closed = store.time(service.clock()) - rules.window
    lists = [each for each in store.impressions(ranker) if each.at <= closed and _counts(each)]
    if not lists:
        raise DataError(
            f"ranker {ranker!r} has no closed list of one ad that a policy for ads drew: ask it for k = 1, "
            "under auc-ranker, squarecb or another of its kind"
        )
    done: dict[str, dict[str, float | None]] = {}
    for event in store.events(ranker):
        if event.verdict == "accepted":
            done.setdefault(event.query_id, {})[event.action] = event.value
    ads = tuple(dict.fromkeys(name for each in lists for name in each.object_ids))
    chances, offered = _chances(lists, ads)
    shown = np.array([ads.index(each.shown[0]) for each in lists])
    rewards = [float(rules.clicked(done.get(each.query_id, {}))) for each in lists]
    mine = chances[np.arange(len(lists)), shown]
    return LoggedRounds(_contexts(lists), ads, shown, np.array(rewards), mine, offered, chances)


def _counts(shown: Impression) -> bool:
    drawn = shown.mode == "explore" and not shown.fallback and not shown.pinned_at.any()
    return drawn and len(shown.order) == 1 and "propensities" in shown.evidence


def _chances(lists: list[Impression], ads: tuple[str, ...]) -> tuple[FloatArray, BoolArray]:
    number = {name: column for column, name in enumerate(ads)}
    chances, offered = np.zeros((len(lists), len(ads))), np.zeros((len(lists), len(ads)), dtype=np.bool_)
    for row, each in enumerate(lists):
        columns = [number[name] for name in each.object_ids]
        chances[row, columns], offered[row, columns] = each.evidence["propensities"], True
    return chances, offered


def _contexts(lists: list[Impression]) -> FloatArray:
    """Features that came later were missing before, and what is missing is 0."""
    table = np.zeros((len(lists), max(each.context.size for each in lists)))
    for row, each in enumerate(lists):
        table[row, : each.context.size] = np.nan_to_num(each.context, nan=0.0)
    return table
