"""rankloop doctor: whether clicks arrive at a service or in its folder, and what to do if they do not."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.markup import escape
from rich.padding import Padding

from rankloop.cli.console import CONSOLE
from rankloop.cli.trial_commands import LOCAL, Key, Url
from rankloop.client import Client

STYLES = {"serious": "bold red", "warning": "yellow", "hint": "cyan"}


def doctor(
    minutes: Annotated[int, typer.Option(min=1, max=525_600, help="How far to look back.")] = 1440,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings, too.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print findings, causes and fixes as JSON.")] = False,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Look into the folder of a service instead, which is only read.", show_default=False
        ),
    ] = None,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Say what is wrong with a service and the clicks it gets, why, and what to do.

    The exit code is 1 if something is serious, or with --strict a warning; 0 otherwise. A folder tells of its
    clicks, whether the service runs or not; how the process itself is, only a running one can say.

    For example:

    `rankloop doctor`

    `rankloop doctor --minutes 60 --strict --url https://rank.example`

    `rankloop doctor --json | jq '.[].fix'`

    `rankloop doctor --data-dir rankloop-data`
    """
    if data_dir is None:
        with Client(url, key, timeout=60.0) as client:
            found = client.doctor(minutes=minutes)
    else:
        found = of_folder(data_dir, minutes)
    causes = found["causes"]
    if json_:
        CONSOLE.print_json(data=causes)
    else:
        tell(found, url)
    grave = {"serious", "warning"} if strict else {"serious"}
    if any(each["level"] in grave for each in causes):
        raise typer.Exit(1)


def of_folder(data_dir: Path, minutes: int) -> dict[str, Any]:
    """The findings about the clicks in a folder, as a service would say them; nothing is changed."""
    from rankloop.policies.policy_names import POLICIES  # noqa: PLC0415
    from rankloop.service.core.configuration import configuration_at  # noqa: PLC0415
    from rankloop.service.extensions.registry import load_registry  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.reports.service_facts import doctor as diagnose  # noqa: PLC0415

    with DataDirectory(data_dir).look() as store:
        now = store.time(time.time())
        known = {
            name: configuration_at(store, name, load_registry(), POLICIES) for name in store.list_rankers()
        }
        found = diagnose(store, since=now - 60 * minutes, until=now + 1, configurations=known)
    told: dict[str, Any] = msgspec.to_builtins(found)
    return told


def tell(found: dict[str, Any], url: str) -> None:
    """The findings in words, each with its cause and its fix."""
    for each in found["causes"]:
        style = STYLES[each["level"]]
        CONSOLE.print(f"[{style}]{each['level']}[/]  {escape(each['sentence'])}", soft_wrap=True)
        CONSOLE.print(Padding(escape(each["cause"]), (0, 0, 0, 4)), style="dim")
        fix = each["fix"].replace("https://<this service>", url.rstrip("/"))
        CONSOLE.print(Padding(escape(fix), (0, 0, 1, 4)), highlight=False)
    events, rate = sum(found["tally"]["verdicts"].values()), found["join_rate"]
    joined = "" if rate is None else f", {rate:.1%} of them with a known list"
    if not found["causes"]:
        CONSOLE.print("nothing to worry about", style="green")
    CONSOLE.print(f"{events:,} events{joined}", style="dim")
