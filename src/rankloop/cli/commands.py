"""Table of the commands, each imported when it is asked for.

Importing all of them takes two seconds; a person who asks for `--help` waits for none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand

from rankloop.cli.stopping import Stopping


class Command(NamedTuple):
    """Where a command is defined, and what it is for, as its docstring's first line says."""

    where: str  # module:attribute, below rankloop.cli
    help: str
    stopped: str = "Stopped"  # what Ctrl-C leaves, in words

    def load(self) -> Any:
        """The function, or the group of functions."""
        module, attribute = self.where.split(":")
        return getattr(import_module(f"rankloop.cli.{module}"), attribute)


STORED = "Stopped. All data is stored"
CONTINUE = "Stopped. Run the same command again to continue"
WAITING = "Stopped waiting. The job continues"

COMMANDS: Mapping[str, Command] = {
    "demo": Command(
        "demo_command:demo",
        "A shop with pictures: search, click, and watch the order learn beside that of plain search.",
        STORED,
    ),
    "serve": Command(
        "serve_commands:serve", "Serve rankings over HTTP, and learn from the clicks on them.", STORED
    ),
    "trial": Command("trial_commands:trial_app", "Compare a ranker of a running service, live."),
    "jobs": Command(
        "job_commands:jobs_app",
        "Long jobs of a running service: forget, relearn, retire, roll back.",
        WAITING,
    ),
    "what-if": Command(
        "what_if:what_if",
        "Say how many clicks another policy or ranker would have got, or why the log cannot tell.",
    ),
    "promise": Command(
        "promise:promise", "Say how a ranker's promise of clicks stands, and how much of its budget is spent."
    ),
    "doctor": Command(
        "show_commands:doctor",
        "Say what is wrong with a service and the clicks it gets, why, and what to do.",
    ),
    "keys": Command("key_commands:keys_app", "Keys of a service: make, list, revoke, rotate."),
    "settings": Command("settings_commands:settings_app", "Settings of a ranker of a running service."),
    "people": Command("people_commands:people_app", "What is stored of people: find it, delete it."),
    "retain": Command(
        "retain:retain", "Delete the old part of a service's log, as far as its model can do without it."
    ),
    "backup": Command(
        "log_commands:backup", "Write a service's log to one file, as of this moment, while the service runs."
    ),
    "restore": Command(
        "log_commands:restore", "Put a backup in place of the log of a service that is not running."
    ),
    "verify": Command(
        "log_commands:verify",
        "Check that entries can be read, digests are right, and the newest snapshot is the fold of the log.",
    ),
    "import-clicks": Command(
        "import_commands:import_clicks",
        "Import what another system has shown and what was clicked, one row for each result shown.",
        CONTINUE,
    ),
    "export-model": Command(
        "export_commands:export_model",
        "Write a ranker's model for Elasticsearch, OpenSearch or ONNX, checked by re-scoring.",
    ),
    "evaluate": Command(
        "evaluate_command:evaluate",
        "Estimate what policies would have got from a service's log, without showing them to anybody.",
    ),
    "lab": Command("lab.lab_commands:lab_app", "Run experiments on data and simulated users."),
}


class CommandTable(Stopping):
    """A group of commands: `--help` prints its table, and only the command that is called is imported."""

    table: ClassVar[Mapping[str, Command]]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=each.help) for name, each in self.table.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, as it is."""
        name, command, rest = super().resolve_command(ctx, args)
        ctx.invoked_subcommand = name  # an import that fails is told with the command's name
        return name, command and import_command(command.name or "", self.table), rest

    def describe_stop(self, ctx: typer.Context) -> str:
        """Say what Ctrl-C has left of the command that was called."""
        called = self.table.get(ctx.invoked_subcommand or "")
        return called.stopped if called else "Stopped"


class Commands(CommandTable):
    """The commands after `rankloop`."""

    table = COMMANDS


def import_command(name: str, table: Mapping[str, Command] = COMMANDS) -> Any:
    """Import a command of a table, with its options.

    >>> sorted(import_command("keys").commands)
    ['create', 'list', 'revoke', 'rotate']
    """
    found, holder = table[name].load(), typer.Typer(rich_markup_mode="markdown")
    holder.callback()(lambda: None)  # a holder of one command would be that command
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command(name=name)(found)
    group: Any = typer.main.get_command(holder)
    return group.commands[name]


def import_all(table: Mapping[str, Command] = COMMANDS) -> Iterator[tuple[str, Any]]:
    """Import every command, each with its full name; a group comes before its commands.

    >>> [name for name, _ in import_all() if name.startswith("keys")]
    ['keys', 'keys create', 'keys list', 'keys revoke', 'keys rotate']
    """
    for name in table:
        command = import_command(name, table)
        yield name, command
        if isinstance(command, CommandTable):
            inner: Iterable[tuple[str, Any]] = import_all(command.table)
        else:
            inner = getattr(command, "commands", {}).items()
        yield from ((f"{name} {each}", value) for each, value in inner)
