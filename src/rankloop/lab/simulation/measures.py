"""Measures: what each number in the results is, from the loop to the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.simulation.best_fixed_order import check_order_is_known
from rankloop.metrics import NDCG, Metric, PairwiseRegret, read_metric
from rankloop.types import BoolArray, FloatArray

Direction: TypeAlias = Literal["higher", "lower"]

DISCOUNT = 0.9995  # γ of the papers
FIRST = 100  # lists in which a ranker is new


@dataclass(frozen=True, repr=False)
class Measure:
    """A number that is measured again and again: its name in the results, and all a report says about it.

    `direction` says what is better; a measure without one describes a policy and does not grade it. A point
    of a *profile* has a `position`: all points of one profile are drawn as one chart. A measure of the loop
    has the `metric` that it takes, one that discounts also its `discount`.
    """

    name: str
    kind: str = ""  # offline, online, ..., or the probe that reads it
    direction: Direction | None = None
    unit: str = ""
    meaning: str = ""
    title: str = ""  # of an axis; the name, if empty
    short: str = ""  # of a file; the name, if empty
    profile: str = ""
    position: int | None = None
    metric: Metric | None = None
    discount: float | None = None  # γ

    def __repr__(self) -> str:
        return f"Measure({self.name!r}{f', discount={self.discount}' if self.discount else ''})"

    def describe(self) -> dict[str, Any]:
        """Describe what whoever reads results without rankloop must know."""
        return {"kind": self.kind, "direction": self.direction, "unit": self.unit}


Measures: TypeAlias = Mapping[str, Measure]  # by name


def index_by_name(measures: Iterable[Measure]) -> dict[str, Measure]:
    """Index measures by their names, and refuse two of one name."""
    found: dict[str, Measure] = {}
    for measure in measures:
        if measure.name in found:
            raise SettingError(f"two measures are called {measure.name!r}: their values would be mixed up")
        found[measure.name] = measure
    return found


@dataclass(frozen=True, eq=False)
class Shown:
    """The metric's values of all lists shown so far, and what a measure may need beside them."""

    values: FloatArray  # [n_lists]
    since: int  # lists before the last checkpoint
    answerable: BoolArray | None = None  # [n_lists]: lists whose query has a relevant document
    best_total: float | None = None  # of the best fixed order for the same queries


def mean_since_checkpoint(shown: Shown, measure: Measure) -> float:
    """Average the lists shown since the last checkpoint."""
    del measure
    return float(shown.values[shown.since :].mean())


def sum_discounted(shown: Shown, measure: Measure) -> float:
    """Sum all lists so far, early ones with the most weight."""
    assert measure.discount is not None
    return float(discounted_cumulative(shown.values, discount=measure.discount)[-1])


def mean_of_all(shown: Shown, measure: Measure) -> float:
    """Average all lists so far."""
    del measure
    return float(shown.values.mean())


def sum_of_all(shown: Shown, measure: Measure) -> float:
    """Sum all lists so far."""
    del measure
    return float(shown.values.sum())


def mean_of_first(shown: Shown, measure: Measure) -> float:
    """Average the first lists, or those that there are."""
    del measure
    return float(shown.values[:FIRST].mean())


def regret_of_all(shown: Shown, measure: Measure) -> float:
    """Compare all lists so far with the best fixed order: how far each was behind on average."""
    assert shown.best_total is not None
    assert measure.metric is not None
    behind = shown.best_total - float(shown.values.sum())
    return (behind if measure.metric.higher_is_better else -behind) / shown.values.size


def mean_of_answerable(shown: Shown, measure: Measure) -> float | None:
    """Average the lists so far whose query has a relevant document, once there is one."""
    del measure
    assert shown.answerable is not None
    return float(shown.values[shown.answerable].mean()) if shown.answerable.any() else None


@dataclass(frozen=True)
class MeasureKind:
    """A way to take a metric: what it is called on an axis, what it means, and how it is computed."""

    title: str  # with the metric in the place of {metric}
    meaning: str
    compute: Callable[[Shown, Measure], float | None] | None  # None: of test queries, not of lists shown


MEASURE_KINDS: Mapping[str, MeasureKind] = {
    "offline": MeasureKind(
        "{metric} on held-out queries",
        "How good is what was learned? The ranking without exploration, on queries never trained on.",
        None,
    ),
    "online": MeasureKind(
        "{metric} of the lists shown",
        "How good were the lists people saw? With exploration, averaged since the last checkpoint.",
        mean_since_checkpoint,
    ),
    "cumulative": MeasureKind(
        "cumulative {metric} of the lists shown",
        "What did people get in total while it learned? Early rounds weigh most.",
        sum_discounted,
    ),
    "average": MeasureKind(
        "average {metric} of the lists shown so far",
        "How good were the lists people saw, from the first on? All rounds weigh the same.",
        mean_of_all,
    ),
    "total": MeasureKind(
        "total {metric} of the lists shown",
        "What did people get in total while it learned? All rounds weigh the same.",
        sum_of_all,
    ),
    "regret": MeasureKind(
        "average regret, {metric}",
        "How much was lost, a list on average, because the best fixed order was not known?",
        regret_of_all,
    ),
    "answerable": MeasureKind(
        "average {metric}, queries with a relevant document",
        "How good were the lists people saw, from the first on, where something was to be found? "
        "Queries without a relevant document are left out.",
        mean_of_answerable,
    ),
    "first": MeasureKind(
        f"{{metric}} of the first {FIRST} lists",
        f"How good were the first {FIRST} lists people saw, before much could be learned?",
        mean_of_first,
    ),
}
TOTAL_REGRET = MeasureKind(  # by its nature a sum: the papers call it by the metric's name
    "cumulative {metric}",
    "What did learning cost? All pairs shown the wrong way round so far; flat is free.",
    sum_of_all,
)


def make_measure(kind: str, metric: Metric, *, discount: float = DISCOUNT) -> Measure:
    r"""Make the measure that takes a metric in one of the ways of `MEASURE_KINDS`.

    The discount is that of *cumulative*, $\sum_t \gamma^{t-1} v_t$. *Regret* compares with the order that
    would have been best for all lists so far, had it been shown every time: policies that follow a change
    can do better, and are below 0 then. Queries without a relevant document count 0 in *average* and are left
    out of *answerable*.

    >>> make_measure("offline", NDCG(k=10)), make_measure("total", PairwiseRegret()).direction
    (Measure('offline nDCG@10'), 'lower')
    """
    if kind not in MEASURE_KINDS:
        raise SettingError(f"kind must be one of {', '.join(MEASURE_KINDS)}, found {kind!r}")
    if kind == "regret":
        check_order_is_known(metric)
    if not 0 < discount <= 1:
        raise SettingError(f"discount must be in (0, 1], found {discount}")
    costs = kind == "total" and isinstance(metric, PairwiseRegret)
    words = TOTAL_REGRET if costs else MEASURE_KINDS[kind]
    usual = kind if isinstance(metric, NDCG) else ""
    return Measure(
        name=f"{metric}" if costs else f"{kind} {metric}",
        kind=kind,
        direction="higher" if metric.higher_is_better and kind != "regret" else "lower",
        unit=metric.unit,
        meaning=words.meaning,
        title=words.title.format(metric=metric),
        short="regret" if costs else usual,
        metric=metric,
        discount=discount if kind == "cumulative" else None,
    )


def usual_measures(k: int, discount: float = DISCOUNT) -> tuple[Measure, ...]:
    """Make what the papers report: nDCG offline, online and cumulative, and pairwise regret.

    >>> [measure.name for measure in usual_measures(10)]
    ['offline nDCG@10', 'online nDCG@10', 'cumulative nDCG@10', 'pairwise regret']
    """
    ndcg = NDCG(k=k)
    taken = [make_measure(kind, ndcg, discount=discount) for kind in ("offline", "online", "cumulative")]
    return (*taken, make_measure("total", PairwiseRegret()))


def read_measure(text: str, *, discount: float = DISCOUNT) -> Measure:
    """Read the measure of the loop that has this name; capitals do not matter.

    >>> read_measure("offline ERR@10"), read_measure("cumulative ndcg@5"), read_measure("pairwise regret")
    (Measure('offline ERR@10'), Measure('cumulative nDCG@5', discount=0.9995), Measure('pairwise regret'))
    """
    if text.strip().casefold() == PairwiseRegret.label:
        return make_measure("total", PairwiseRegret())
    kind, _, metric = text.strip().partition(" ")
    if kind.casefold() not in MEASURE_KINDS or not metric:
        raise SettingError(
            f"no measure is called {text!r}: expected one of {', '.join(MEASURE_KINDS)} and a metric, "
            "as in 'offline ERR@10'"
        )
    return make_measure(kind.casefold(), read_metric(metric), discount=discount)


def discounted_cumulative(values: FloatArray, *, discount: float = DISCOUNT) -> FloatArray:
    r"""Compute running sums in which early rounds weigh most.

    $$\sum_{t=1}^{T} \gamma^{t-1} v_t \quad \text{for every } T$$

    With $\gamma = 0.9995$ the sum of nDCG can never exceed $1 / (1 - \gamma) = 2000$. With
    `discount=1` it is the plain running sum.

    >>> discounted_cumulative(np.array([1.0, 1.0, 1.0]), discount=0.5)
    array([1.  , 1.5 , 1.75])

    Hofmann et al., "Balancing exploration and exploitation in listwise and pairwise online learning
    to rank for information retrieval", Information Retrieval 2013.
    """
    if not 0.0 < discount <= 1.0:
        raise SettingError(f"discount must be above 0 and at most 1, found {discount}")
    return np.cumsum(values * discount ** np.arange(len(values)))
