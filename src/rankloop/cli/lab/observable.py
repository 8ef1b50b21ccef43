"""rankloop lab observable: whether a measure can be learned from the grades of the first k results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.progress import track

from rankloop.cli.console import CONSOLE
from rankloop.errors import SettingError, suggest_name
from rankloop.learning.objectives import (
    APGain,
    AUCLoss,
    DCGGain,
    NDCGGain,
    Objective,
    PairwiseLoss,
    PrecisionGain,
    SumLoss,
)
from rankloop.learning.observability import Observability, check_size, observability

KINDS: dict[str, type[Objective]] = {
    kind.label.casefold(): kind for kind in (SumLoss, PairwiseLoss, DCGGain, NDCGGain, APGain, AUCLoss)
}


def observable(
    measure: Annotated[
        str, typer.Option(help="SumLoss, PairwiseLoss, DCG, Precision@n, NDCG, AP or AUC; any capitals.")
    ] = "NDCG",
    k: Annotated[int, typer.Option(help="How many results are graded, from the top.")] = 1,
    items: Annotated[int, typer.Option(help="How many items there are, 2 to 5.")] = 4,
) -> None:
    """Say whether a measure can be learned from the grades of the first k of a list of fixed items.

    For example:

    `rankloop lab observable --measure AP --k 1 --items 4`

    `rankloop lab observable --measure Precision@2 --k 1 --items 5`

    The answer holds for binary grades and every policy: it is about the worst world.
    """
    check_size(items, k)
    found = observability(objective(measure, items), k=k, items=items, watch=_watch)
    for line in in_words(found):
        CONSOLE.print(line, highlight=False, soft_wrap=True)


def objective(name: str, items: int) -> Objective:
    """The objective of that name.

    >>> objective("precision@2", 4), objective("ap", 4)
    (PrecisionGain(n=2), APGain())
    """
    if found := re.fullmatch(r"precision@(\d+)", name.strip().casefold()):
        n = int(found[1])
        if not 1 <= n < items:
            raise SettingError(
                f"Precision@{n} of {items} items is the same for every order: choose n from 1 to {items - 1}"
            )
        return PrecisionGain(n)
    known = [kind.label for kind in KINDS.values()]
    if name.strip().casefold() not in KINDS:
        raise SettingError(f"no measure is called {name!r}: {suggest_name(name, [*known, 'Precision@n'])}")
    return KINDS[name.strip().casefold()]()


def in_words(found: Observability) -> list[str]:
    """The verdict, its reason, and how many grades would do.

    >>> print(in_words(observability(APGain(), k=1, items=3))[0])
    AP cannot be learned from the first grade of 3 items: regret grows like T, whatever the policy.
    """
    graded = "the first grade" if found.k == 1 else f"the first {found.k} grades"
    name, where = found.objective.name, f"{graded} of {found.items} items"
    if not found.globally:
        return [
            f"{name} cannot be learned from {where}: regret grows like T, whatever the policy.",
            f"Reason: it is not globally observable. Some difference between two orders depends on how "
            f"{found.smallest_k} grades occur together, and no list shows more than {found.k} of them: two "
            "worlds that look alike want different orders.",
            f"The smallest k that would do is {found.smallest_k}"
            + (f"; from {found.smallest_local_k} on regret can grow like T^(1/2)." if _slow(found) else "."),
        ]
    if not found.locally:
        return [
            f"{name} can be learned from {where}, slowly: regret grows like T^(2/3).",
            "Reason: it is globally observable, by showing each item on top now and then, but not locally: "
            "two orders that are nearly the best cannot be told apart without showing worse ones.",
            f"The smallest k that would do is {found.smallest_k}; from {found.smallest_local_k} on regret "
            "can grow like T^(1/2).",
        ]
    return [
        f"{name} can be learned from {where}: regret can grow like T^(1/2).",
        "Reason: it is locally observable. Two orders that are nearly the best are told apart by what they, "
        "and others as good, show.",
        f"The smallest k that would do is {found.smallest_k}; from {found.smallest_local_k} on it is as "
        "fast as this.",
    ]


def _slow(found: Observability) -> bool:
    return found.smallest_local_k > found.smallest_k


def _watch(steps: Iterable[int], total: int) -> Iterable[int]:
    """A bar while the linear programs are solved, for those who have a terminal and more than a few."""
    silent = total < 100 or not CONSOLE.is_terminal
    return track(steps, "comparing neighbours", total=total, console=CONSOLE, transient=True, disable=silent)
