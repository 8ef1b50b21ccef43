"""Command line: what every command shares; each command has a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from rankloop import __version__
from rankloop.cli.commands import Commands
from rankloop.cli.console import CONSOLE

app = typer.Typer(
    name="rankloop",
    help="Rankings that learn from clicks and experiment only where they are unsure.",
    no_args_is_help=True,
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        CONSOLE.print(f"rankloop {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Rankings that learn from clicks and experiment only where they are unsure."""
