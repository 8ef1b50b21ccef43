"""Explanation of a pair: why one result stands above another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor

import numpy as np
from scipy.special import ndtr

from rankloop.errors import RequestError
from rankloop.policies import AdPolicy, Policy
from rankloop.policy import KnowsCertainOrders, KnowsDeviations
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.history import History
from rankloop.service.core.lists.order_certainty import Grade, grade_of
from rankloop.service.core.lists.replay import find_swapped_pairs
from rankloop.service.core.model import Model, asker_of
from rankloop.service.store import Impression
from rankloop.types import BoolArray, FloatArray, IntArray, Query

OWN_ORDER = "(your own order)"  # among the contributions of features
WORDS: Mapping[Grade, str] = {"leaning": "only a leaning", "likely": "likely", "settled": "settled"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the model of that time thought of two results of a list."""

    above: str
    below: str
    gap: float  # score of the upper minus score of the lower
    width: float | None  # standard deviation of the gap; None: the policy cannot tell
    probability: float | None  # that the upper belongs above the lower, by the model
    settled: bool | None  # the order is 95 % sure, this way or the other; None: the policy cannot tell
    explored: bool  # shown against the scores
    pinned: bool  # one of them was pinned
    contributions: Mapping[str, float]  # of each feature to the gap, largest first
    exact: bool  # the contributions add up to the gap: the model is linear
    turned: bool = False  # drawn the other way round, and turned for fair exposure
    promised: bool = False  # in the caller's own order, for the promise of clicks
    mixed: bool = False  # the list is that of another arm of a trial, or made of both
    open: bool | None = None  # the policy may try it either way, by its own criterion; None: it has none
    certainty: Grade | None = None  # how sure the model is of the likelier order, in a word
    titles: tuple[str, str] = ("", "")  # of the upper and of the lower; empty: nobody said any

    @property
    def sentence(self) -> str:
        """In words."""
        above, below = named(self.above, self.titles[0]), named(self.below, self.titles[1])
        pair = f"{above} stands above {below}"
        sure = None if self.probability is None else _sure(self.probability)
        told = f" (the model is {sure} sure of this order)" if sure else ""
        reasons = {
            " because one of them is pinned": self.pinned,
            f" because the list was shown in your own order, for the promise of clicks{told}": self.promised,
            f" by another arm of a trial{told}": self.mixed,
            f" for fair exposure{told}": self.turned,
        }
        reason = next((each for each, there in reasons.items() if there), "")
        if reason:
            return f"{pair}{reason}."
        if self.explored:
            return f"{above} was tried above {below}, against the scores{told}."
        if self.certainty is None:
            return f"{above} scored higher than {below}; this policy cannot say how sure it is."
        return f"{pair}: their order is {WORDS[self.certainty]}{told}."


def _sure(probability: float) -> str:
    """In whole percent, never rounded up: what is likely is not 95%, and nothing is quite sure.

    >>> _sure(0.949), _sure(0.9996), _sure(0.001)
    ('94%', 'over 99%', 'under 1%')
    """
    if not 0.01 <= probability < 0.995:
        return "over 99%" if probability > 0.5 else "under 1%"
    return f"{floor(100 * probability + 1e-9)}%"


def named(object_id: str, title: str = "") -> str:
    """A result as people know it: by its title, if one was sent, and its id.

    >>> named("sku-17", "Blue mug"), named("sku-17")
    ('Blue mug (sku-17)', "'sku-17'")
    """
    return f"{title} ({object_id})" if title and title != object_id else repr(object_id)


def explain_past(
    shown: Impression, history: History, configuration: Configuration, a: str, b: str
) -> Explanation:
    """Compare two results of a past list; `configuration` has the features' names."""
    model = history.model(shown.model)
    names = [name for column, name in enumerate(configuration.schema.names) if column not in model.retired]
    if model.policy.reads == "context":
        names = list(configuration.context_schema.columns)
    return explain(shown, model, names, a, b, find_swapped=partial(find_swapped_pairs, shown, history))


def explain(
    shown: Impression,
    model: Model,
    names: Sequence[str],
    a: str,
    b: str,
    *,
    find_swapped: Callable[[IntArray], BoolArray | None] = lambda _: None,
) -> Explanation:
    """Compare two results of a list, with the model that made it; `find_swapped` tells of pairs of rows."""
    upper, lower = _rows(shown, a, b, everything=model.policy.reads == "context")
    swapped = find_swapped(np.array([upper, lower]))
    turned = swapped is not None and bool(swapped[0, 1])
    promise, trial = shown.parts.get("promise"), shown.parts.get("trial")
    promised = promise is not None and promise.arm != "learned"
    mixed = trial is not None and trial.arm != "A" and not promised
    policy, query = model.asked(
        shown.query_id, shown.features, shown.object_ids, shown.groups, asker_of(shown.user, shown.context)
    )
    rows = np.array([upper, lower])
    pair = query.take(rows)
    scores = policy.score(pair)
    gap = float(scores[0] - scores[1])
    width = _width(policy, query, rows)
    probability = float(ndtr(gap / width)) if width else None
    certainty = None if probability is None else grade_of(probability)
    parts = _contributions(policy, pair)
    by_size = np.argsort(-np.abs(parts), kind="stable")
    labels = [*names, *("" for _ in range(len(parts) - len(names)))]
    if policy.layout.extra:
        labels[len(parts) - 1] = OWN_ORDER
    above, below = shown.object_ids[upper], shown.object_ids[lower]
    return Explanation(
        above=above,
        below=below,
        titles=(shown.title_of(above), shown.title_of(below)),
        gap=gap,
        width=width,
        probability=probability,
        certainty=certainty,
        settled=None if certainty is None else certainty == "settled",
        open=_open(policy, query, rows),
        explored=shown.mode == "explore" and gap < 0 and not (turned or mixed or promised),
        promised=promised,
        mixed=mixed and gap < 0,
        turned=turned,
        pinned=bool(shown.pinned_at[[upper, lower]].any()),
        contributions={labels[i]: float(parts[i]) for i in by_size.tolist() if parts[i]},
        exact=bool(np.isclose(parts.sum(), gap)),
    )


def _rows(shown: Impression, a: str, b: str, *, everything: bool) -> tuple[int, int]:
    """The rows of two results, the upper one first; of ads, those that were not shown are below the one."""
    names = shown.shown
    if everything:
        names = names + [name for name in shown.object_ids if name not in names]
    for name in (a, b):
        if name not in names:
            raise RequestError(f"{name!r} was not in the list {shown.query_id!r}, which showed {names}")
    if a == b:
        raise RequestError(f"explain compares two results, found {a!r} twice")
    above, below = sorted((a, b), key=names.index)
    rows = {name: row for row, name in enumerate(shown.object_ids)}
    return rows[above], rows[below]


def _contributions(policy: Policy, pair: Query) -> FloatArray:
    r"""$\theta_f (x_{a,f} - x_{b,f})$ for each feature: the score of that difference alone."""
    if isinstance(policy, AdPolicy):
        of_both = policy.explain_scores(pair)
        return np.asarray(of_both[0] - of_both[1])
    apart = np.diag(_gap(pair))
    own = [_own_order(policy, pair)] if policy.layout.extra else []
    if not len(apart) or policy.identifies_by == "ids":
        return np.array(own)
    features = policy.score(Query(pair.id, apart)) - policy.score(Query(pair.id, np.zeros_like(apart)))
    return np.append(features, own)


def _own_order(policy: Policy, pair: Query) -> float:
    """What the caller's own order adds to the gap."""
    with_it, without = policy.score(pair), policy.score(Query(pair.id, pair.features, pair.doc_ids))
    return float((with_it[0] - with_it[1]) - (without[0] - without[1]))


def _width(policy: Policy, query: Query, rows: IntArray) -> float | None:
    """The standard deviation of the gap, where the policy knows it."""
    spreads = policy.order_deviations(query, rows) if isinstance(policy, KnowsDeviations) else None
    return None if spreads is None else float(spreads[0, 1])


def _open(policy: Policy, query: Query, rows: IntArray) -> bool | None:
    if not isinstance(policy, KnowsCertainOrders):
        return None
    return not policy.certain_orders(query)[np.ix_(rows, rows)].any()


def _gap(pair: Query) -> FloatArray:
    gap: FloatArray = pair.features[0] - pair.features[1]
    return gap
