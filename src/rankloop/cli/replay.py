"""rankloop replay: what other policies would have learned from a service's log."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table

from rankloop.cli import names
from rankloop.cli.console import CONSOLE
from rankloop.types import DataError, Query, SettingError

if TYPE_CHECKING:
    from rankloop.service import Model
    from rankloop.store import Impression, SqliteStore

LAST = 5000  # lists on which policies are compared


def replay(
    policies: Annotated[
        str, typer.Option(help="Policies, comma-separated; see `rankloop list`.")
    ] = "pairrank,pdgd",
    data_dir: Annotated[Path, typer.Option(help="The folder of a service that is not running.")] = Path(
        "rankloop-data"
    ),
    ranker: Annotated[str, typer.Option(help="Whose log.")] = "default",
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Go on with this policy and what it learned; name one only.")
    ] = False,
) -> None:
    """Let other policies learn from a service's log: a question, unless you --adopt the answer.

    For example:

    `rankloop replay --policies pairrank,pdgd:learning_rate=0.01`

    `rankloop replay --policies pdgd --adopt`
    """
    from rankloop.service import RankingService  # noqa: PLC0415
    from rankloop.service.http import DataFolder  # noqa: PLC0415

    if not (data_dir / "log.db").exists():
        raise DataError(f"{data_dir} holds no log: name the folder of a service with --data-dir")
    chosen = names.split_names(policies)
    if adopt and len(chosen) != 1:
        raise SettingError(f"--adopt needs one policy, found {len(chosen)}")
    with DataFolder(data_dir).open() as store:
        service = RankingService(store)
        rules = service.settings(ranker)
        lists = clicked_lists(store, ranker)
        table = Table(
            "policy", "learned from", "mean reciprocal rank", title=f"the log of {ranker}", box=None
        )
        table.add_row("[dim]as shown", "", f"{mean_rank([min(places) for _, places in lists]):.3f}")
        for name in chosen:
            model = service.relearn(ranker, rules.with_policy(names.policy(name)))
            table.add_row(name, f"{model.lists:,} lists", f"{mean_rank(best_places(model, lists)):.3f}")
        CONSOLE.print(table)
        CONSOLE.print(
            f"of the best clicked result, in the last {len(lists):,} clicked lists. These were learned from, "
            "and users click what they are shown: it shows what goes wrong, not which of two is better.",
            style="dim",
        )
        if adopt:
            service.configure(ranker, rules.with_policy(names.policy(chosen[0])), learn_again=True)
            service.close()
            CONSOLE.print(f"{ranker} now is {chosen[0]}, with all it could learn from the log")


def clicked_lists(store: SqliteStore, ranker: str) -> list[tuple[Impression, list[int]]]:
    """The last lists with clicks, and the places of the clicks."""
    places: dict[str, list[int]] = {}
    for event in store.events(ranker):
        if event.verdict == "accepted" and event.position is not None:
            places.setdefault(event.query_id, []).append(event.position - 1)
    shown = ((store.impression(query_id), found) for query_id, found in places.items())
    return list(deque(((each, found) for each, found in shown if each is not None), maxlen=LAST))


def best_places(model: Model, lists: list[tuple[Impression, list[int]]]) -> list[int]:
    """Where a model would have put the best of the clicked results, among those shown."""
    found = []
    for shown, places in lists:
        policy, features = model.ready(shown.features)
        order = np.argsort(-policy.score(Query("", features))[shown.order], kind="stable")
        found.append(min(int(np.flatnonzero(order == place)[0]) for place in places))
    return found


def mean_rank(places: list[int]) -> float:
    """Mean of 1 / rank, for places counted from 0.

    >>> mean_rank([0, 1])
    0.75
    """
    return float(np.mean([1 / (place + 1) for place in places])) if places else float("nan")
