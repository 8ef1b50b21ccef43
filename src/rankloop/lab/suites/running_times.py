"""Running times of neural rankers, the one figure whose numbers belong to a machine.

Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022, Figure
2.14.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time

import polars as pl

from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.data import Dataset, load
from rankloop.lab.simulation.loop import simulate
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.users import PresetUser
from rankloop.policies.policy_names import read_policy

SMALL = "scorer=MLP((16, 16))"
AS_PRINTED = {  # Algorithm 2: networks trained anew in every round, on freshly perturbed pairs
    "full matrix": "olranknet@paper(scorer=MLP((16, 16), scale=1.0), covariance='full')",
    "diagonal": "olranknet@paper(scorer=MLP((16, 16), scale=1.0))",
    "2 rankers": "p2neurrank@paper(scorer=MLP((16, 16), scale=1.0), rankers=2, variance=0.1)",
    "1 ranker": "p2neurrank@paper(scorer=MLP((16, 16), scale=1.0), rankers=1, variance=0.1)",
}
OURS = {
    "full matrix": f"olranknet({SMALL}, covariance='full')",
    "diagonal": f"olranknet({SMALL}, covariance='diagonal')",
    "projected": f"olranknet({SMALL})",
    "2 rankers": f"p2neurrank({SMALL})",
    "1 ranker": f"p2neurrank({SMALL}, rankers=1)",
}


def measure_running_times(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Measure processor seconds of a run under perfect users, trained as printed and as ours."""
    dataset, rounds = load(data), 10 if quick else 300
    return {"as printed": _times(AS_PRINTED, dataset, rounds), "ours": _times(OURS, dataset, rounds)}


def _times(policies: Mapping[str, str], dataset: Dataset, rounds: int) -> pl.DataFrame:
    seconds = {name: _seconds(text, dataset, rounds) for name, text in policies.items()}
    return pl.DataFrame(
        [
            (name, text, rounds, seconds[name], seconds[name] / seconds["1 ranker"])
            for name, text in policies.items()
        ],
        schema=["what", "policy", "rounds", "seconds", "of 1 ranker"],
        orient="row",
    )


def _seconds(text: str, dataset: Dataset, rounds: int) -> float:
    user, protocol = (
        PresetUser("perfect").for_grades(dataset.train.grades),
        Protocol(rounds=rounds, checkpoints=1),
    )
    start = process_time()
    for _ in simulate(
        read_policy(text, ALL_POLICIES), user, dataset.train, dataset.test, seed=0, protocol=protocol
    ):
        pass
    return process_time() - start
