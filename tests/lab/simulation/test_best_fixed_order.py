"""Regret is measured against the order that would have been best, found by trying all."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from rankloop.checks import small_world
from rankloop.errors import DataError, SettingError
from rankloop.lab.data import load
from rankloop.lab.simulation.best_fixed_order import BestFixedOrder
from rankloop.lab.simulation.loop import simulate
from rankloop.lab.simulation.measures import make_measure, read_measure
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.users import LabelJudge
from rankloop.metrics import DCG, ERR, NDCG, Metric, PairwiseRegret, Precision
from rankloop.policies import RTopKItems, ThompsonItems
from rankloop.query_set import QuerySet

METRICS = (DCG(), DCG(k=2), NDCG(), Precision(k=2), PairwiseRegret())


def shuffled_items(*, grades: int = 2, queries: int = 30, items: int = 4) -> QuerySet:
    """The same items in another order in every query."""
    rng = np.random.default_rng(3)
    rows = np.concatenate([rng.permutation(items) for _ in range(queries)])
    relevance = np.minimum(rng.integers(0, grades + 1, rows.size) * (rows > 0), grades - 1)
    ids = tuple(str(number) for number in range(queries))
    names = tuple("abcd"[row] for row in rows)
    return QuerySet(np.empty((rows.size, 0)), np.arange(queries + 1) * items, relevance, ids, names)


@pytest.mark.parametrize(
    ("metric", "grades"), [*((each, 2) for each in METRICS), *((each, 3) for each in METRICS[:-1])], ids=str
)
def test_no_fixed_order_would_have_done_better(metric: Metric, grades: int) -> None:
    queries, times = shuffled_items(grades=grades), np.random.default_rng(0).integers(0, 4, 30)
    totals = []
    for order in permutations("abcd"):
        lists = [np.array([judged.query.doc_ids.index(name) for name in order]) for judged in queries]
        values = [metric(shown, judged.relevance) for shown, judged in zip(lists, queries, strict=True)]
        totals.append(times @ np.array(values))
    best = max(totals) if metric.higher_is_better else min(totals)
    assert BestFixedOrder(metric, queries).total(times) == pytest.approx(best)


def test_regret_is_what_the_lists_shown_were_behind() -> None:
    world, protocol = (
        shuffled_items(),
        Protocol(rounds=50, k=4, checkpoints=1, measures=(make_measure("regret", DCG()),)),
    )
    records = list(simulate(ThompsonItems(), LabelJudge(), world, world, seed=0, protocol=protocol))
    assert {record.metric for record in records} == {"regret DCG"}
    assert {record.round for record in records} >= {1, 50}
    first = next(record.value for record in records if record.round == 1)
    assert first >= 0  # for one list alone the best order is the ideal one


def test_who_learns_has_less_regret_as_time_goes() -> None:
    data = load("items(m=10, relevant=3, flip=0.1, queries=500)")
    protocol = Protocol(rounds=600, k=10, checkpoints=2, measures=(read_measure("regret dcg"),))
    for policy in (RTopKItems(top_k=2), ThompsonItems()):
        user = LabelJudge(top_k=2)
        values = [
            record.value
            for record in simulate(policy, user, data.train, data.test, seed=1, protocol=protocol)
            if record.round in (300, 600)
        ]
        assert values[1] < values[0] < 0.5


def test_what_has_no_known_best_order_is_refused() -> None:
    with pytest.raises(SettingError, match="known for DCG, nDCG, Precision, pairwise regret, found ERR"):
        make_measure("regret", ERR())
    with pytest.raises(DataError, match="two grades, found 3"):
        BestFixedOrder(PairwiseRegret(), shuffled_items(grades=3))
    with pytest.raises(DataError, match="the same items, by id, in every query"):
        BestFixedOrder(DCG(), small_world())
