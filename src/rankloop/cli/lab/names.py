"""Lists of names on the command line: users under a reading of *stop*, measures, ordered data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankloop.lab.data import change_name
from rankloop.lab.simulation.measures import Measure, read_measure
from rankloop.lab.users import NamedUser, PresetUser, read_user
from rankloop.naming import find_kind, split_names

STOPS: Mapping[str, Sequence[str]] = {"click": ("click",), "every": ("every",), "both": ("click", "every")}


def with_caller_orders(data: Sequence[str], orders: str) -> list[str]:
    """The datasets with each of these orders of the caller.

    >>> with_caller_orders(["mq2008"], "none,decent"), with_caller_orders(["mq2008"], "")
    (['mq2008', "mq2008(caller_order='decent')"], ['mq2008'])
    """
    wanted = split_names(orders) or ["none"]
    return [
        name if each == "none" else change_name(name, caller_order=each) for name in data for each in wanted
    ]


def measures(text: str) -> tuple[Measure, ...]:
    """The measures in a comma-separated list, each by its name.

    >>> measures("offline ERR@10, online MRR")
    (Measure('offline ERR@10'), Measure('online MRR'))
    """
    return tuple(read_measure(name) for name in split_names(text))


def users(text: str, stop: str) -> dict[str, NamedUser]:
    """The users in a comma-separated list under a reading of stop, or under both.

    Who grades or reads to the end never stops, and is there once.

    >>> list(users("perfect,navigational", "both"))
    ['perfect', 'navigational', 'navigational(stop_at=every)']
    """
    chosen: dict[str, NamedUser] = {}
    for reading in find_kind(stop, STOPS, "reading of stop"):
        for name in split_names(text):
            found = read_user(name)
            stops = isinstance(found, PresetUser) and "(" not in name
            full = f"{name}(stop_at={reading})" if stops and reading != "click" else name
            if not (name in chosen and isinstance(found, PresetUser) and found.never_stops):
                chosen[full] = read_user(full)
    return chosen
