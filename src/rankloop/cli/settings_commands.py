"""rankloop settings: look at a ranker's settings, and change some of them knowing what is lost."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from rankloop.cli.console import CONSOLE
from rankloop.cli.trial_commands import LOCAL, Key, Url
from rankloop.client import Client
from rankloop.errors import SettingError

settings_app = typer.Typer(no_args_is_help=True, help="Settings of a ranker of a running service.")
Ranker = Annotated[str, typer.Option(help="Whose settings.")]


@settings_app.command()
def show(ranker: Ranker = "default", url: Url = LOCAL, key: Key = "") -> None:
    """Print the settings in force, as JSON.

    For example: `rankloop settings show --ranker shop`
    """
    with Client(url, key, timeout=60.0) as client:
        CONSOLE.print_json(json.dumps(client.settings(ranker)))


@settings_app.command()
def change(
    patch: Annotated[str, typer.Argument(help="What to change, as JSON; null brings a default back.")],
    ranker: Ranker = "default",
    relearn: Annotated[
        bool, typer.Option("--relearn", help="Learn the log again as if they had always held.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also if what was learned is dropped, or the policy is another.")
    ] = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Say what would change and what would be lost, and change it; losing what was learned needs --yes.

    For example:

    `rankloop settings change '{"window": 60}' --ranker shop`

    `rankloop settings change '{"policy": "PDGD()"}' --relearn --yes`
    """
    said = parsed(patch)
    with Client(url, key, timeout=60.0) as client:
        seen = client.preview(said, ranker, relearn=relearn)
        tell(seen)
        if seen["dangerous"] and not yes:
            raise SettingError("nothing was changed: say --yes if that is what you want")
        version = client.change(
            said, ranker, relearn=relearn, confirm=seen["confirm"], version=seen["version"]
        )
    under_way = (
        " (the log is being learned again: `rankloop jobs show`)" if version == seen["version"] else ""
    )
    CONSOLE.print(f"version {version} of the settings is in force{under_way}")


def parsed(patch: str) -> dict[str, Any]:
    """A patch from its text.

    >>> parsed('{"window": 60}')
    {'window': 60}
    """
    try:
        found = json.loads(patch)
    except ValueError as error:
        raise SettingError(f"expected JSON such as '{{\"window\": 60}}', found {patch[:50]!r}") from error
    if not isinstance(found, dict):
        raise SettingError(f"expected an object such as '{{\"window\": 60}}', found {patch[:50]!r}")
    return found


def tell(seen: dict[str, Any]) -> None:
    """A preview in words."""
    for each in seen["changes"]:
        before, after = (json.dumps(each[name]) for name in ("before", "after"))
        CONSOLE.print(f"{each['name']}: {before} -> {after}", markup=False)
    for sentence in seen["sentences"]:
        CONSOLE.print(sentence, markup=False)
