"""Metrics: how good a ranking is, one list or a whole set of queries."""

from rankloop.metrics.average_precision import AP
from rankloop.metrics.binary_metrics import MRR
from rankloop.metrics.dcg import DCG, NDCG
from rankloop.metrics.err import ERR
from rankloop.metrics.mean import has_relevant, mean_over_queries
from rankloop.metrics.metric import BinaryMetric, CutMetric, Metric
from rankloop.metrics.metric_names import METRICS, parse_metric
from rankloop.metrics.pairwise_regret import PairwiseRegret
from rankloop.metrics.precision import Precision
from rankloop.metrics.runs import mean_over_lists

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
    "parse_metric",
]
