"""The number of test queries behind offline means, counted and in words."""

from __future__ import annotations

from dataclasses import replace

from rankloop.lab.analysis.query_counts import describe_counts
from rankloop.lab.data import load
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.counted_queries import count_test_queries
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser
from rankloop.policies import Random


def test_the_test_queries_that_enter_the_mean_are_counted() -> None:
    whole = load("linear")
    grades = whole.test.relevance.copy()
    ends = list(zip(whole.test.offsets[:-1], whole.test.offsets[1:], strict=True))
    for start, end in ends[:30]:
        grades[start:end] = 0
    data = replace(whole, test=replace(whole.test, relevance=grades))
    relevant = sum(bool(grades[start:end].any()) for start, end in ends)
    assert relevant <= len(ends) - 30
    for without, count in (("skip", relevant), ("zero", len(ends))):
        sweep = Sweep(
            data=[data],
            users={"perfect": PresetUser("perfect")},
            policies={"random": Random()},
            protocol=Protocol(without_relevant=without),  # type: ignore[arg-type]
        )
        counted = count_test_queries(sweep)
        assert counted == {data.name: [count]}
        assert ("few" in describe_counts(counted)) is (count < 100)


def test_where_nobody_counted_it_says_so() -> None:
    assert "is not known" in describe_counts({})


def test_only_few_queries_are_warned_of() -> None:
    assert describe_counts({"mq2008": [60, 60]}) == (
        "Offline means rest on 60 test queries in each of 2 folds."
    )
    assert "few" in describe_counts({"mq2008": [60, 60], "small": [99]})
