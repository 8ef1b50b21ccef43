"""Metrics by name, for the places where people type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields

from rankloop.errors import SettingError, suggest_name
from rankloop.metrics.binary_metrics import AP, MRR, Precision
from rankloop.metrics.dcg import DCG, NDCG
from rankloop.metrics.err import ERR
from rankloop.metrics.metric import Metric
from rankloop.metrics.pairwise_regret import PairwiseRegret

METRICS: Mapping[str, type[Metric]] = {
    kind.label: kind for kind in (NDCG, DCG, ERR, AP, MRR, Precision, PairwiseRegret)
}

_FORM = re.compile(r"(?P<label>[^(@]+?)\s*(\((?P<option>\w+)=(?P<value>\d+)\))?(@(?P<k>\d+))?")


def read_metric(name: str) -> Metric:
    """The metric that prints as this name; capitals do not matter.

    >>> read_metric("nDCG@10"), read_metric("precision@5"), read_metric("ERR(max_grade=2)@10")
    (nDCG@10, Precision@5, ERR(max_grade=2)@10)
    """
    form = _FORM.fullmatch(name.strip())
    labels = {label.casefold(): label for label in METRICS}
    label = labels.get(form["label"].casefold()) if form else None
    if form is None or label is None:
        word = re.split(r"[(@]", name)[0].strip()
        raise SettingError(f"no metric is called {name!r}: {suggest_name(word, METRICS)}, as in nDCG@10")
    options = {form["option"]: form["value"], "k": form["k"]}
    chosen = {option: int(value) for option, value in options.items() if option and value is not None}
    return _build(METRICS[label], chosen, name)


def _build(kind: type[Metric], chosen: dict[str, int], name: str) -> Metric:
    known = [option.name for option in fields(kind)]
    for option in chosen:
        if option not in known:
            takes = " and ".join(known) or "no options"
            raise SettingError(f"{name!r}: {kind.label} has no option {option!r}; it takes {takes}")
    return kind(**chosen)
