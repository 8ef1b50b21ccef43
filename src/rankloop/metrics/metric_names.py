"""Metrics by name, for the places where people type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rankloop.errors import SettingError
from rankloop.metrics.binary_metrics import AP, MRR, Precision
from rankloop.metrics.dcg import DCG, NDCG
from rankloop.metrics.err import ERR
from rankloop.metrics.metric import CutMetric, Metric
from rankloop.metrics.pairwise_regret import PairwiseRegret
from rankloop.naming import read_name

METRICS: Mapping[str, type[Metric]] = {
    kind.label: kind for kind in (NDCG, DCG, ERR, AP, MRR, Precision, PairwiseRegret)
}


def read_metric(text: str) -> Metric:
    """Make the metric that prints as this text; capitals do not matter.

    >>> read_metric("nDCG@10"), read_metric("precision@5"), read_metric("ERR(max_grade=2)@10")
    (nDCG@10, Precision@5, ERR(max_grade=2)@10)
    """
    name, cut, k = text.strip().partition("@")
    metric = read_name(name, METRICS, noun="metric")
    if not cut:
        return metric
    if not isinstance(metric, CutMetric):
        raise SettingError(f"{metric.label} has no cutoff: write {metric.label}, found {text!r}")
    if not (k.isascii() and k.isdecimal()):
        raise SettingError(f"a cutoff is a whole number, as in {metric.label}@10, found {text!r}")
    return replace(metric, k=int(k))
