"""Running times of neural rankers, the one figure whose numbers belong to a machine.

Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022, Figure
2.14.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time

import polars as pl

from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.data import Dataset
from rankloop.lab.simulation.loop import simulate
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.suites.as_printed import SMALL, SMALL_PAPER, algorithm_2
from rankloop.lab.suites.paper_items import PaperTable
from rankloop.lab.users import PresetUser
from rankloop.policies.policy_names import read_policy

AS_PRINTED = {
    "full matrix": f"olranknet@paper({SMALL_PAPER}, covariance=Full())",
    "diagonal": f"olranknet@paper({SMALL_PAPER})",
    "2 rankers": algorithm_2(2, 0.1),
    "1 ranker": algorithm_2(1, 0.1),
}
OURS = {
    "full matrix": f"olranknet({SMALL}, covariance=Full())",
    "diagonal": f"olranknet({SMALL}, covariance=Diagonal())",
    "projected": f"olranknet({SMALL})",
    "2 rankers": f"p2neurrank({SMALL})",
    "1 ranker": f"p2neurrank({SMALL}, rankers=1)",
}


def figure_2_14(dataset: Dataset | None, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Processor seconds of a run under perfect users, trained as printed and as ours."""
    assert dataset is not None, "this table is about data"
    rounds = 10 if quick else 300
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


TABLES: Mapping[str, PaperTable] = {
    "p2neurrank/fig2.14": PaperTable(
        title="How long does a run take, and how much of it is for knowing what is uncertain?",
        paper="With 16 x 16 units on MSLR-WEB10K the full matrix takes by far the longest; two rankers take "
        "a little more than the diagonal, and one ranker, which is training alone, the least.",
        make=figure_2_14,
        notes=(
            "Processor seconds of this machine, for everything in a run, one after the other; a busy machine "
            "counts no waiting.",
        ),
        data="nonlinear",
    ),
}
