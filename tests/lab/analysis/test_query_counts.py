"""The number of test queries behind offline means, in words."""

from __future__ import annotations

from rankloop.lab.analysis.query_counts import describe_counts


def test_where_nobody_counted_it_says_so() -> None:
    assert "is not known" in describe_counts({})


def test_only_few_queries_are_warned_of() -> None:
    assert describe_counts({"mq2008": [60, 60]}) == (
        "Offline means rest on 60 test queries in each of 2 folds."
    )
    assert "few" in describe_counts({"mq2008": [60, 60], "small": [99]})
