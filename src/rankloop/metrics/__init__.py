"""Metrics: how good a ranking is, one list or a whole set of queries."""

from rankloop.metrics.binary_metrics import AP, MRR, Precision
from rankloop.metrics.dcg import DCG, NDCG
from rankloop.metrics.err import ERR
from rankloop.metrics.metric import (
    BinaryMetric,
    CutMetric,
    Metric,
    has_relevant,
    mean_over_lists,
    mean_over_queries,
)
from rankloop.metrics.metric_names import METRICS, read_metric
from rankloop.metrics.pairwise_regret import PairwiseRegret
from rankloop.metrics.rank_discounts import rank_discounts

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "METRICS",
    "MRR",
    "NDCG",
    "BinaryMetric",
    "CutMetric",
    "Metric",
    "PairwiseRegret",
    "Precision",
    "has_relevant",
    "mean_over_lists",
    "mean_over_queries",
    "rank_discounts",
    "read_metric",
]
