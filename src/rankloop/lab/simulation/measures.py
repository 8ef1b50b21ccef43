"""Measures: what a number in the results is, as a value from the loop to the report."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rankloop.errors import DataError, SettingError
from rankloop.lab.simulation.best_fixed_order import check_order_is_known
from rankloop.lab.simulation.cumulative import discounted_cumulative
from rankloop.metrics import NDCG, Metric, PairwiseRegret, has_relevant, parse_metric
from rankloop.metrics.mean import WithoutRelevant, mean_of_values
from rankloop.types import BoolArray, FloatArray, QuerySet

Direction: TypeAlias = Literal["higher", "lower"]

DISCOUNT = 0.9995  # γ of the papers
FIRST = 100  # lists in which a ranker is new


@dataclass(frozen=True)
class Measure:
    """A number that is measured again and again: its name in the results, and all a report says about it.

    `direction` says what is better; a measure without one describes a policy and does not grade it. A point
    of a *profile* has a `position`: all points of one profile are drawn as one chart.
    """

    name: str
    kind: str = ""  # offline, online, ..., or the probe that sees it
    direction: Direction | None = None
    unit: str = ""
    meaning: str = ""
    title: str = ""  # of an axis; the name, if empty
    short: str = ""  # of a file; the name, if empty
    profile: str = ""
    position: int | None = None

    def describe(self) -> dict[str, Any]:
        """What whoever reads results without rankloop must know."""
        return {"kind": self.kind, "direction": self.direction, "unit": self.unit}


Measures: TypeAlias = Mapping[str, Measure]  # by name


def by_name(measures: Iterable[Measure]) -> dict[str, Measure]:
    """The measures by their names, each of which must be its own."""
    found: dict[str, Measure] = {}
    for measure in measures:
        if measure.name in found:
            raise SettingError(f"two measures are called {measure.name!r}: their values would be mixed up")
        found[measure.name] = measure
    return found


@dataclass(frozen=True, init=False, repr=False)
class LoopMeasure(Measure):
    """A measure that the loop itself takes, with a metric."""

    metric: Metric = field(kw_only=True)

    def __init__(self, metric: Metric, *, kind: str, name: str, title: str, meaning: str) -> None:
        super().__init__(
            name=name,
            kind=kind,
            direction="higher" if metric.higher_is_better else "lower",
            unit=metric.unit,
            meaning=meaning,
            title=title,
            short=kind if isinstance(metric, NDCG) else "",
        )
        object.__setattr__(self, "metric", metric)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric})"


class Offline(LoopMeasure):
    """How good is what was learned: the ranking without exploration, on queries never trained on.

    >>> Offline(NDCG(k=10)).name, Offline(NDCG(k=10)).direction
    ('offline nDCG@10', 'higher')
    """

    def __init__(self, metric: Metric) -> None:
        super().__init__(
            metric,
            kind="offline",
            name=f"offline {metric}",
            title=f"{metric} on held-out queries",
            meaning="How good is what was learned? The ranking without exploration, on queries never "
            "trained on.",
        )

    def value(self, values: FloatArray, queries: QuerySet, without_relevant: WithoutRelevant) -> float:
        """The mean, from the metric of every query."""
        return mean_of_values(self.metric, values, queries, without_relevant)


class ShownMeasure(LoopMeasure):
    """A measure of the lists that were shown, exploration included."""

    @abstractmethod
    def value(self, values: FloatArray, since: int) -> float:
        """From the metric of every list so far; the last checkpoint was after `since` of them."""


class Online(ShownMeasure):
    """How good the lists were that people saw since the last checkpoint."""

    def __init__(self, metric: Metric) -> None:
        super().__init__(
            metric,
            kind="online",
            name=f"online {metric}",
            title=f"{metric} of the lists shown",
            meaning="How good were the lists people saw? With exploration, averaged since the last "
            "checkpoint.",
        )

    def value(self, values: FloatArray, since: int) -> float:
        """The mean since the last checkpoint."""
        return float(values[since:].mean())


@dataclass(frozen=True, init=False, repr=False)
class Cumulative(ShownMeasure):
    r"""What people got in total while it learned, $\sum_t \gamma^{t-1} v_t$: early rounds weigh most."""

    discount: float = field(kw_only=True)  # γ

    def __init__(self, metric: Metric, discount: float = DISCOUNT) -> None:
        super().__init__(
            metric,
            kind="cumulative",
            name=f"cumulative {metric}",
            title=f"cumulative {metric} of the lists shown",
            meaning="What did people get in total while it learned? Early rounds weigh most.",
        )
        if not 0 < discount <= 1:
            raise SettingError(f"discount must be in (0, 1], found {discount}")
        object.__setattr__(self, "discount", discount)

    def __repr__(self) -> str:
        return f"Cumulative({self.metric}, discount={self.discount})"

    def value(self, values: FloatArray, since: int) -> float:
        """The discounted sum so far."""
        del since
        return float(discounted_cumulative(values, discount=self.discount)[-1])


class Average(ShownMeasure):
    """How good the lists were that people saw so far: the mean over all of them.

    >>> Average(NDCG(k=10)).name, Average(NDCG(k=10)).title
    ('average nDCG@10', 'average nDCG@10 of the lists shown so far')
    """

    def __init__(self, metric: Metric) -> None:
        super().__init__(
            metric,
            kind="average",
            name=f"average {metric}",
            title=f"average {metric} of the lists shown so far",
            meaning="How good were the lists people saw, from the first on? All rounds weigh the same.",
        )

    def value(self, values: FloatArray, since: int) -> float:
        """The mean so far."""
        del since
        return float(values.mean())


class First(ShownMeasure):
    """How good the first lists were that people saw, before much could be learned.

    >>> First(NDCG(k=10)).name, First(NDCG(k=10)).title
    ('first nDCG@10', 'nDCG@10 of the first 100 lists')
    """

    def __init__(self, metric: Metric) -> None:
        super().__init__(
            metric,
            kind="first",
            name=f"first {metric}",
            title=f"{metric} of the first {FIRST} lists",
            meaning=f"How good were the first {FIRST} lists people saw, before much could be learned?",
        )

    def value(self, values: FloatArray, since: int) -> float:
        """The mean of these."""
        del since
        return float(values[:FIRST].mean())


class Total(ShownMeasure):
    """The plain sum over all lists so far: for a regret, what learning cost.

    >>> Total(PairwiseRegret()).name, Total(PairwiseRegret()).direction, Total(NDCG(k=5)).name
    ('pairwise regret', 'lower', 'total nDCG@5')
    """

    def __init__(self, metric: Metric) -> None:
        regret = isinstance(metric, PairwiseRegret)  # by its nature a sum: the papers call it by that name
        got = "What did people get in total while it learned? All rounds weigh the same."
        cost = "What did learning cost? All pairs shown the wrong way round so far; flat is free."
        super().__init__(
            metric,
            kind="total",
            name=f"{metric}" if regret else f"total {metric}",
            title=f"cumulative {metric}" if regret else f"total {metric} of the lists shown",
            meaning=cost if regret else got,
        )
        if regret:
            object.__setattr__(self, "short", "regret")

    def value(self, values: FloatArray, since: int) -> float:
        """The sum so far."""
        del since
        return float(values.sum())


class Regret(LoopMeasure):
    """How much the lists shown were behind the best fixed order in hindsight, a list on average.

    For queries that have the same items: the order is the one that would have been best for all lists so far,
    had it been shown every time. Policies that follow a change can do better, and are below 0 then.

    >>> from rankloop.metrics import DCG
    >>> Regret(DCG()).name, Regret(DCG()).direction
    ('regret DCG', 'lower')
    """

    def __init__(self, metric: Metric) -> None:
        check_order_is_known(metric)
        super().__init__(
            metric,
            kind="regret",
            name=f"regret {metric}",
            title=f"average regret, {metric}",
            meaning="How much was lost, a list on average, because the best fixed order was not known?",
        )
        object.__setattr__(self, "direction", "lower")

    def value(self, got: FloatArray, best: float) -> float:
        """From the metric of every list so far, and the total of the best order."""
        behind = best - float(got.sum())
        return (behind if self.metric.higher_is_better else -behind) / got.size


class Answerable(LoopMeasure):
    """How good the lists were that people saw for queries with a relevant document: the mean over all so far.

    For other queries every list is equally good. `Average` counts 0 for them, as is usual online; papers that
    leave them out have means that are higher by as much as there are such queries.

    >>> Answerable(NDCG(k=10)).name, Answerable(NDCG(k=10)).kind
    ('answerable nDCG@10', 'answerable')
    """

    def __init__(self, metric: Metric) -> None:
        super().__init__(
            metric,
            kind="answerable",
            name=f"answerable {metric}",
            title=f"average {metric}, queries with a relevant document",
            meaning="How good were the lists people saw, from the first on, where something was to be found? "
            "Queries without a relevant document are left out.",
        )

    def counted(self, queries: QuerySet) -> BoolArray:
        """Which queries count: [n_queries]."""
        found = has_relevant(queries, self.metric.least_relevant)
        if not found.any():
            raise DataError(
                f"{self.name}: none of the {len(queries)} training queries has a document of grade "
                f"{self.metric.least_relevant} or higher; check the labels or measure 'average {self.metric}'"
            )
        return found

    def value(self, values: FloatArray) -> float:
        """From the metric of every list so far whose query counts."""
        return float(values.mean())


KINDS: Mapping[str, type[Offline | Online | Cumulative | Average | First | Total | Regret | Answerable]] = {
    "offline": Offline,
    "online": Online,
    "cumulative": Cumulative,
    "average": Average,
    "total": Total,
    "regret": Regret,
    "answerable": Answerable,
    "first": First,
}


def usual_measures(k: int, discount: float = DISCOUNT) -> tuple[LoopMeasure, ...]:
    """What the papers report: nDCG offline, online and cumulative, and pairwise regret.

    >>> usual_measures(10)
    (Offline(nDCG@10), Online(nDCG@10), Cumulative(nDCG@10, discount=0.9995), Total(pairwise regret))
    """
    ndcg = NDCG(k=k)
    return Offline(ndcg), Online(ndcg), Cumulative(ndcg, discount), Total(PairwiseRegret())


def parse_measure(text: str, *, discount: float = DISCOUNT) -> LoopMeasure:
    """The measure of the loop that has this name; capitals do not matter.

    >>> parse_measure("offline ERR@10"), parse_measure("cumulative ndcg@5"), parse_measure("pairwise regret")
    (Offline(ERR@10), Cumulative(nDCG@5, discount=0.9995), Total(pairwise regret))
    """
    if text.strip().casefold() == PairwiseRegret.label:
        return Total(PairwiseRegret())
    kind, _, metric = text.strip().partition(" ")
    make = KINDS.get(kind.casefold())
    if make is None or not metric:
        raise SettingError(
            f"no measure is called {text!r}: expected one of {', '.join(KINDS)} and a metric, "
            "as in 'offline ERR@10'"
        )
    found = parse_metric(metric)
    return Cumulative(found, discount) if make is Cumulative else make(found)
