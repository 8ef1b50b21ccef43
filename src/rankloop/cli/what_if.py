"""rankloop what-if: what another policy or ranker would have got, from the log of a running service."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.service_log import told
from rankloop.cli.trial_commands import LOCAL, Key, Url
from rankloop.client import Client
from rankloop.errors import SettingError


def what_if(
    ranker: Annotated[str, typer.Argument(help="The ranker whose visitors are asked.")] = "default",
    policy: Annotated[str, typer.Option(help="A policy, by name.")] = "",
    other: Annotated[str, typer.Option(help="Or another ranker, as it is now.")] = "",
    depth: Annotated[int, typer.Option(help="Clicks on so many of the first results.")] = 1,
    share: Annotated[float, typer.Option(help="Share of the lists that the policy learns from.")] = 0.5,
    explore: Annotated[
        bool, typer.Option("--explore", help="Judge the lists it would draw, exploration included.")
    ] = False,
    level: Annotated[float, typer.Option(help="Probability with which an interval holds.")] = 0.95,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Say how many clicks another policy or ranker would have got, or why the log cannot tell.

    For example: `rankloop what-if shop --policy pdgd --depth 2`
    """
    if bool(policy) == bool(other):
        raise SettingError("what-if: name a --policy, or an --other ranker, one of them")
    with Client(url, key, timeout=60.0) as client:
        found = client.what_if(
            ranker, policy or None, other=other, depth=depth, share=share, explore=explore, level=level
        )
    CONSOLE.print(f"{found['lists']:,} lists judge, {found['logged']:.4f} clicks each as they were")
    if found["left_out"]:
        CONSOLE.print(f"left out: {told(found['left_out'])}", soft_wrap=True, highlight=False)
    table = Table("estimate of clicks per list", "value", "at least", "at most", box=None)
    for each in found["estimates"]:
        table.add_row(each["name"], *(f"{each[name]:.4f}" for name in ("value", "lower", "upper")))
    CONSOLE.print(table)
    CONSOLE.print(f"{found['effective']:,.0f} lists of its own would say as much", style="dim")
