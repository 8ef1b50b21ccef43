"""rankloop relearn: what other policies would have learned from a service's log."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table

from rankloop.cli.command_options import DataDir, StoreUrl
from rankloop.cli.console import CONSOLE
from rankloop.cli.own_policies import read_served_policy
from rankloop.errors import SettingError
from rankloop.naming import split_names

if TYPE_CHECKING:
    from rankloop.service import Model
    from rankloop.service.store import Impression, Store

LAST = 5000  # lists on which policies are compared


def relearn(
    policies: Annotated[
        str, typer.Option(help="Policies, comma-separated; see `rankloop lab list`.")
    ] = "pairrank,pdgd",
    data_dir: DataDir = Path("rankloop-data"),
    store: StoreUrl = "",
    ranker: Annotated[str, typer.Option(help="Whose log.")] = "default",
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Go on with this policy and what it learned; name one only.")
    ] = False,
) -> None:
    """Let other policies learn from a service's log: a question, unless you --adopt the answer.

    For example:

    `rankloop relearn --policies "pairrank,PDGD(learning_rate=0.01)"`

    `rankloop relearn --policies pdgd --adopt`
    """
    from rankloop.service import ServiceFacade  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415

    chosen = split_names(policies)
    if adopt and len(chosen) != 1:
        raise SettingError(f"--adopt needs one policy, found {len(chosen)}")
    with DataDirectory(data_dir, store).open(create=False) as log:
        service = ServiceFacade(log)
        rules = service.settings(ranker)
        lists = clicked_lists(log, ranker)
        table = Table(
            "policy", "learned from", "mean reciprocal rank", title=f"the log of {ranker}", box=None
        )
        as_shown = mean_reciprocal_rank([min(clicked) for _, clicked in lists])
        table.add_row("[dim]as shown", "", f"{as_shown:.3f}")
        for name in chosen:
            model = service.relearn(ranker, rules.with_policy(read_served_policy(name)))
            value = mean_reciprocal_rank(best_positions(model, lists))
            table.add_row(name, f"{model.lists:,} lists", f"{value:.3f}")
        CONSOLE.print(table)
        CONSOLE.print(
            f"of the best clicked result, in the last {len(lists):,} clicked lists. These were learned from, "
            "and users click what they are shown: it shows what goes wrong, not which of two is better.",
            style="dim",
        )
        if adopt:
            service.configure(ranker, rules.with_policy(read_served_policy(chosen[0])), relearn=True)
            service.close()
            CONSOLE.print(f"{ranker} now is {chosen[0]}, with all it could learn from the log")


def clicked_lists(store: Store, ranker: str) -> list[tuple[Impression, list[int]]]:
    """The last lists with clicks, and the positions of the clicks."""
    clicked: dict[str, list[int]] = {}
    for event in store.read_events(ranker):
        if event.verdict == "accepted" and event.position is not None:
            clicked.setdefault(event.query_id, []).append(event.position)
    shown = ((store.find_impression(query_id), positions) for query_id, positions in clicked.items())
    return list(deque(((each, found) for each, found in shown if each is not None), maxlen=LAST))


def best_positions(model: Model, lists: list[tuple[Impression, list[int]]]) -> list[int]:
    """Where a model would have put the best of the clicked results, among those shown."""
    from rankloop.service.core.model import asker_of  # noqa: PLC0415

    found = []
    for shown, clicked in lists:
        asker = asker_of(shown.user, shown.context)
        policy, query = model.asked(shown.query_id, shown.features, shown.object_ids, (), asker)
        order = np.argsort(-policy.score(query)[shown.order], kind="stable")
        found.append(1 + min(int(np.flatnonzero(order == position - 1)[0]) for position in clicked))
    return found


def mean_reciprocal_rank(positions: list[int]) -> float:
    """Mean of 1 / position.

    >>> mean_reciprocal_rank([1, 2])
    0.75
    """
    return float(np.mean([1 / position for position in positions])) if positions else float("nan")
