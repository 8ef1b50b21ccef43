"""Metrics print as the names they are found by."""

from __future__ import annotations

import pytest

from rankloop.errors import SettingError
from rankloop.metrics import (
    AP,
    DCG,
    ERR,
    METRICS,
    MRR,
    NDCG,
    Metric,
    PairwiseRegret,
    Precision,
    read_metric,
)

NAMED: list[tuple[str, Metric]] = [
    ("nDCG@10", NDCG(k=10)),
    ("nDCG", NDCG()),
    ("DCG@10", DCG(k=10)),
    ("ERR@10", ERR(k=10)),
    ("ERR(max_grade=2)@20", ERR(k=20, max_grade=2)),
    ("AP", AP()),
    ("MRR", MRR()),
    ("Precision@5", Precision(k=5)),
    ("Precision(relevant_from=2)@5", Precision(k=5, relevant_from=2)),
    ("pairwise regret", PairwiseRegret()),
]


@pytest.mark.parametrize(("name", "metric"), NAMED)
def test_a_name_and_its_metric_find_each_other(name: str, metric: Metric) -> None:
    assert (repr(metric), str(metric), metric.name) == (name, name, name)
    assert read_metric(name) == metric


def test_capitals_and_blanks_do_not_matter() -> None:
    assert read_metric(" ndcg@10 ") == NDCG(k=10)


def test_a_misspelt_name_meets_a_suggestion() -> None:
    message = r"no metric is called 'nDGC': did you mean 'nDCG'\? choose from nDCG, DCG"
    with pytest.raises(SettingError, match=message):
        read_metric("nDGC@10")


@pytest.mark.parametrize("name", ["nDCG@ten", "nDCG@10@5", "nDCG@", "nDCG@-1", "nDCG@²"])
def test_a_cutoff_is_a_whole_number(name: str) -> None:
    with pytest.raises(SettingError, match="a cutoff is a whole number, as in nDCG@10, found"):
        read_metric(name)


@pytest.mark.parametrize("name", ["", "@10", "zebra"])
def test_what_is_no_name_meets_the_known_ones(name: str) -> None:
    with pytest.raises(SettingError, match=", ".join(METRICS)):
        read_metric(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nDCG(max_grade=3)@10", "NDCG has no setting 'max_grade': choose from k"),
        ("pairwise regret@10", "pairwise regret has no cutoff"),
        ("ERR(max_grade=x)", "ERR: max_grade must be a whole number of at least 1, found x"),
        ("nDCG@0", "NDCG: k must be a whole number of at least 1 or None, found 0"),
    ],
)
def test_a_setting_the_metric_does_not_have_is_refused(name: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        read_metric(name)


def test_metrics_are_values() -> None:
    assert len({NDCG(k=10), NDCG(k=10), NDCG(k=5), DCG(k=10)}) == 3
