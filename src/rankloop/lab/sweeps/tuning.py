"""Tuning: which settings of a policy do best on validation queries, by grid or by successive halving."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import polars as pl

from rankloop.errors import RankingError, SettingError
from rankloop.lab.data import change_name
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.naming import split_names

Execute: TypeAlias = Callable[[Sweep, int], pl.DataFrame]  # a rung's sweep and its number
HALVING = 4  # of so many, the best one goes on, for so many times as long
EVERYONE = "mean"  # over users


@dataclass(frozen=True, slots=True)
class Choice:
    """How a point of a grid did in a rung under a user: a mean over data and seeds; None: it diverged."""

    rung: int
    rounds: int
    user: str  # or EVERYONE
    policy: str
    value: float | None
    best: bool = False  # of those in its rung, under this user


def read_grid(text: str) -> dict[str, list[str]]:
    """Read the grid that a text describes: settings, each with values that bars divide.

    >>> read_grid("learning_rate=0.1|0.01,scorer=Linear()|MLP((16, 16))")
    {'learning_rate': ['0.1', '0.01'], 'scorer': ['Linear()', 'MLP((16, 16))']}
    """
    grid = {}
    for part in split_names(text):
        setting, equals, values = part.partition("=")
        if not (equals and values):
            raise SettingError(f"a grid is <setting>=<value>|<value>,..., found {part!r}")
        grid[setting.strip()] = split_names(values, "|")
    return grid


def list_points(name: str, grid: Mapping[str, Sequence[str]]) -> list[str]:
    """Every point of a grid, as a text that names a policy.

    >>> list_points("PDGD(decay=0.9)", {"learning_rate": ["0.1", "0.01"]})
    ['PDGD(decay=0.9, learning_rate=0.1)', 'PDGD(decay=0.9, learning_rate=0.01)']
    """
    if not grid or not all(grid.values()):
        raise SettingError(f"{name}: expected a grid of at least one setting with values, found {dict(grid)}")
    points = itertools.product(*([f"{setting}={value}" for value in grid[setting]] for setting in grid))
    base, _, given = name.strip().removesuffix(")").partition("(")
    return [f"{base}({', '.join([given, *point] if given else point)})" for point in points]


def tune(sweep: Sweep, *, measure: str, execute: Execute, halving: bool = False) -> Iterator[list[Choice]]:
    """Try all policies of a sweep on validation queries, rung by rung; the last rung's best is the choice.

    Test queries take no part: all data are read by name, with their validation queries in the place of test
    queries. By grid there is one rung. With `halving`, all are tried for a fraction of the rounds, the best
    quarter of them for four times as long, and so on to the last few, for all rounds. Of several users the
    mean decides; what is best under each is said, too.
    """
    policies = dict(sweep.policies)
    rungs = plan_rungs(len(policies), sweep.protocol.rounds) if halving else [sweep.protocol.rounds]
    for number, rounds in enumerate(rungs):
        protocol = replace(sweep.protocol, rounds=rounds)
        rung = replace(sweep, data=name_validation_data(sweep.data), policies=policies, protocol=protocol)
        choices = find_choices(run_rung(rung, number, execute), rung, measure=measure, number=number)
        yield choices
        policies = {
            name: policies[name] for name in order_policies(choices)[: math.ceil(len(policies) / HALVING)]
        }


def order_policies(choices: Sequence[Choice]) -> list[str]:
    """List the policies of a rung, the best first, without those that diverged."""
    overall = [each for each in choices if each.user == EVERYONE and each.value is not None]
    return [each.policy for each in sorted(overall, key=lambda each: -(each.value or 0.0))]


def plan_rungs(points: int, rounds: int) -> list[int]:
    """How many rounds each rung of successive halving takes.

    >>> plan_rungs(48, 5000), plan_rungs(3, 5000)
    ([312, 1250, 5000], [5000])
    """
    lengths = [rounds]
    while points > HALVING:
        points = math.ceil(points / HALVING)
        lengths.insert(0, max(lengths[0] // HALVING, 1))
    return lengths


def name_validation_data(data: Sequence[object]) -> list[str]:
    """Names of the same data, with validation queries in the place of test queries.

    >>> name_validation_data(["mq2008(fold=1)"])
    ['mq2008(fold=1, test_on_validation=True)']
    """
    if not all(isinstance(name, str) for name in data):
        raise SettingError("tuning needs data by name, of which it reads the validation queries")
    return [change_name(str(name), test_on_validation=True) for name in data]


def run_rung(rung: Sweep, number: int, execute: Execute) -> pl.DataFrame:
    """Run a rung, without the policies that diverged: they are found by trying one by one."""
    try:
        return execute(rung, number)
    except RankingError:
        frames = []
        for name, policy in rung.policies.items():
            try:
                frames.append(execute(replace(rung, policies={name: policy}, compare_with={}), number))
            except RankingError:
                continue
        if not frames:
            raise
        return pl.concat(frames)


def find_choices(results: pl.DataFrame, rung: Sweep, *, measure: str, number: int) -> list[Choice]:
    """Find what each policy of a rung reached in the end, under each user and on average over these."""
    last = results.filter((pl.col("metric") == measure) & (pl.col("round") == rung.protocol.rounds))
    means = last.group_by("user", "policy").agg(pl.col("value").mean())
    overall = means.group_by("policy").agg(pl.col("value").mean()).select(pl.lit(EVERYONE), "policy", "value")
    found = {(user, policy): float(value) for user, policy, value in [*means.rows(), *overall.rows()]}
    choices = []
    for user in (*rung.users, EVERYONE):
        values = {policy: found.get((user, policy)) for policy in rung.policies}
        most = max(value for value in values.values() if value is not None)
        choices += [
            Choice(number, rung.protocol.rounds, user, policy, value, value == most)
            for policy, value in values.items()
        ]
    return choices
