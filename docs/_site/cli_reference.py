"""The command line reference: what `--help` says of every command, written out when the site is built."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rankloop.cli.commands import import_all

from .http_api import table


def markdown() -> str:
    """A section for each command, and one below its group for each command of a group."""
    found = list(import_all())
    contents = [f"- [`rankloop {name}`](#{anchor(name)})" for name, _ in found if " " not in name]
    return "\n\n".join(
        ["## All commands", "\n".join(contents), *(section(name, command) for name, command in found)]
    )


def anchor(name: str) -> str:
    """Where the section of a command is on the page.

    >>> anchor("trial start")
    'rankloop-trial-start'
    """
    return f"rankloop {name}".replace(" ", "-")


def section(name: str, command: Any) -> str:
    """A command: how it is called, what it does, examples, and what it takes."""
    heading = f"{'#' * (2 + name.count(' '))} `rankloop {name}`"
    parts = [heading, *text(inspect.cleandoc(command.help or ""))]
    if hasattr(command, "commands"):
        inner = (f"[`{each}`](#{anchor(f'{name} {each}')})" for each in command.commands)
        return "\n\n".join([*parts, "Commands: " + ", ".join(inner) + "."])
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
    usage = [
        "rankloop",
        name,
        *(each.name.upper() for each in arguments),
        *(["[options]"] if options else []),
    ]
    parts.insert(1, f"```text\n{' '.join(usage)}\n```")
    if arguments:
        parts.append(table(("argument", "default", "meaning"), map(row, arguments)))
    if options:
        parts.append(table(("option", "default", "meaning"), map(row, options)))
    return "\n\n".join(parts)


def text(help_text: str) -> Iterator[str]:
    """The paragraphs of a help text; examples that follow each other become one block."""
    examples: list[str] = []
    for paragraph in help_text.split("\n\n"):
        if re.fullmatch(r"`[^`]+`", paragraph.strip()):
            examples.append(" ".join(paragraph.strip().strip("`").split()))
            continue
        if examples:
            yield "```sh\n" + "\n".join(examples) + "\n```"
            examples = []
        yield paragraph
    if examples:
        yield "```sh\n" + "\n".join(examples) + "\n```"


def row(parameter: Any) -> tuple[str, str, str]:
    """Names, default and meaning of an option or an argument."""
    variable = f" Also as the variable `{parameter.envvar}`." if parameter.envvar else ""
    meaning = " ".join((parameter.help or "").split()) + variable
    if parameter.param_type_name == "argument":
        return parameter.name.upper(), default(parameter), meaning
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return f"{names} {kind(parameter)}".strip(), default(parameter), meaning


def kind(parameter: Any) -> str:
    """What an option takes, as a placeholder; a switch takes nothing.

    >>> [kind(each) for each in dict(import_all())["lab report"].params if each.name in ("latex", "width")]
    ['', 'NUMBER']
    """
    if parameter.is_flag:
        return ""
    described = getattr(parameter, "type_descriptor", None)  # of Typer itself; before, of Click
    declared = str(described.annotation if described else parameter.type).lower()
    named = {"int": "NUMBER", "float": "NUMBER", "path": "PATH"}
    return next((word for part, word in named.items() if part in declared), "TEXT")


def default(parameter: Any) -> str:
    """What holds if nothing is said."""
    if parameter.required:
        return "required"
    value = parameter.default
    if value is None or value in ("", ()) or callable(value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"`{value}`"


class CliReference(SphinxDirective):
    """Puts the reference where it stands."""

    def run(self) -> list[nodes.Node]:
        """Read it as Markdown, like the page around it."""
        return self.parse_text_to_nodes(markdown(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("cli-reference", CliReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
