"""rankloop promise: how much of a promise's budget of clicks is spent, in a running service."""

from __future__ import annotations

from rankloop.cli.console import CONSOLE
from rankloop.cli.trial_commands import LOCAL, Key, Ranker, Url
from rankloop.client import Client
from rankloop.errors import DataError


def promise(ranker: Ranker = "default", url: Url = LOCAL, key: Key = "") -> None:
    """Say how a ranker's promise of clicks stands, and how much of its budget is spent.

    For example: `rankloop promise shop`
    """
    with Client(url, key) as client:
        found = client.rankers()
    if ranker not in found:
        raise DataError(f"no ranker is called {ranker!r}: there are {', '.join(found) or 'none'}")
    report = found[ranker]["promise"]
    if report is None:
        raise DataError(f"ranker {ranker!r} promises no clicks: give it the setting `promise`")
    CONSOLE.print(report["sentence"], soft_wrap=True, highlight=False, markup=False)
