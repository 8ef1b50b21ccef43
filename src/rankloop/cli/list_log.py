"""What policies would have got, from the lists of a service."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.own_policies import read_any_policy
from rankloop.cli.service_log import told
from rankloop.evaluation import NoSupport

NOTE = (
    "clicks per list on the first results, shown without exploring. Whole lists supposes nothing about "
    "users, the other columns that they read from the top; intervals are for one look. Effective lists: so "
    "many of the policy's own would say as much."
)


def lists_in(
    data_dir: Path, ranker: str, policies: Sequence[str], depth: int, share: float, level: float
) -> None:
    """Print what policies would have got on the first results of the lists in a service's folder."""
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

    with DataDirectory(data_dir).open() as store:
        service = ServiceFacade(store)
        table = Table(box=None)
        for name in policies:
            try:
                found = service.what_if(ranker, read_any_policy(name), depth=depth, share=share, level=level)
            except NoSupport as error:
                CONSOLE.print(f"{name}: no answer: {error}", soft_wrap=True)
                continue
            if not table.columns:
                for heading in ("policy", *(each.name for each in found.estimates), "effective lists"):
                    table.add_column(heading, justify="left" if heading == "policy" else "right")
                CONSOLE.print(f"{found.lists:,} lists judge, {found.logged:.4f} clicks each as they were")
                if found.left_out:
                    CONSOLE.print(f"left out: {told(found.left_out)}", soft_wrap=True, highlight=False)
            cells = [f"{each.value:.4f}\n{each.lower:.4f} to {each.upper:.4f}" for each in found.estimates]
            table.add_row(name, *cells, f"{found.effective:,.0f}")
        if table.columns:
            CONSOLE.print(table)
            CONSOLE.print(f"[dim]{NOTE}[/]")
