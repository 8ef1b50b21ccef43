"""A finished run is found again only by a run that would give the same rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from rankloop.lab.sweeps.results_folder import Ledger
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser
from rankloop.policies import P2NeurRank
from rankloop.scorers import Module


def network(n_features: int, width: int = 4) -> Any:
    return nn.Sequential(nn.Linear(n_features, width), nn.Tanh(), nn.Linear(width, 1))


def of_width(width: int) -> Callable[[int], Any]:
    return lambda n_features: network(n_features, width)


def file_of(make: Callable[[int], Any]) -> str:
    sweep = Sweep(
        data=["linear"],
        users={"perfect": PresetUser("perfect")},
        policies={"own": P2NeurRank(scorer=Module(make))},
        seeds=range(1),
    )
    return Ledger(Path(), sweep).path(sweep.runs()[0]).name


def test_networks_of_ones_own_are_told_apart_by_what_they_do() -> None:
    makers: list[Callable[[int], Any]] = [
        network,
        lambda n: nn.Linear(n, 1),
        lambda n: nn.Sequential(nn.Linear(n, 2), nn.Linear(2, 1)),
        partial(network, width=8),
        partial(network, width=16),
        of_width(8),
        of_width(16),
    ]
    assert len({file_of(make) for make in makers}) == len(makers)
    assert file_of(of_width(8)) == file_of(of_width(8))
    assert file_of(partial(network, width=8)) == file_of(partial(network, width=8))
