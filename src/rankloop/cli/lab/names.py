"""Names that only the command line knows: users, probes, lists with commas."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankloop.errors import SettingError
from rankloop.lab.simulation.measures import Measure, read_measure
from rankloop.lab.simulation.probes import PROBES, Probe
from rankloop.lab.users import CASCADE_TABLES, AdUser, LabelJudge, PresetUser
from rankloop.policies import Policy
from rankloop.spelling import lookup, make, parse, split

OTHERS: Mapping[str, type[LabelJudge | AdUser]] = {
    "labels": LabelJudge,
    "ads": AdUser,
}  # with settings of their own
STOPS = {"click": ("click",), "every": ("every",), "both": ("click", "every")}


def split_names(text: str) -> list[str]:
    """The names in a comma-separated list; `key=value` belongs to the name before it.

    >>> split_names("mgd:candidates=49,interleaving=probabilistic,pdgd")
    ['mgd:candidates=49,interleaving=probabilistic', 'pdgd']
    """
    names: list[str] = []
    for part in (part.strip() for part in split(text)):
        if names and "=" in part and ":" not in part:
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return names


def policy(name: str) -> Policy:
    """The policy a name stands for; a class of one's own may be in the folder where the command was given.

    >>> policy("pairrank:certainty=width(0.1)").certainty
    Width(alpha=0.1)
    """
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # worker processes take it over
    return parse(name)


def served_policy(name: str) -> Policy:
    """The policy a name stands for in a service: it starts from the caller's order, a paper's does not.

    >>> served_policy("pairrank").trust, served_policy("pairrank@paper").trust
    ('decent', None)
    """
    from rankloop.service.core.ranker_settings import trusting  # noqa: PLC0415

    return policy(name) if "@" in name else trusting(policy(name))


def with_bases(data: Sequence[str], base: str) -> list[str]:
    """The datasets with each of these base orders.

    >>> with_bases(["mq2008"], "none,decent"), with_bases(["mq2008"], "")
    (['mq2008', 'mq2008@decent'], ['mq2008'])
    """
    wanted = [part.strip() for part in base.split(",") if part.strip()] or ["none"]
    return [name if each == "none" else f"{name}@{each}" for name in data for each in wanted]


def probe(name: str) -> Probe:
    """The probe a name stands for, with the settings after the colon.

    >>> probe("block-size:ranks=(1,3),every=5")
    block-size(ranks=(1, 3), every=5)
    """
    return make("probe", name, PROBES)


def user(name: str) -> PresetUser | LabelJudge | AdUser:
    """The user a name stands for.

    >>> user("navigational:stop=every")
    PresetUser(name='navigational', stop_at='every')
    >>> user("labels:top_k=2")
    LabelJudge(top_k=2, whole_query=False, noise=0.0)
    >>> user("ads:match=0.04")
    AdUser(match=0.04, otherwise=0.0)
    """
    kind, _, setting = name.partition(":")
    if kind in OTHERS:
        return make("user", name, OTHERS)
    lookup("user", kind, {**CASCADE_TABLES, **OTHERS})
    if setting and not setting.startswith("stop="):
        raise SettingError(f"a user has the setting stop (click or every), found {setting}")
    return PresetUser(kind, setting.removeprefix("stop=") or "click")  # type: ignore[arg-type]  # it looks itself


def measures(text: str) -> tuple[Measure, ...]:
    """The measures in a comma-separated list, each by its name.

    >>> measures("offline ERR@10, online MRR")
    (Measure('offline ERR@10'), Measure('online MRR'))
    """
    return tuple(read_measure(name) for name in split(text) if name.strip())


def users(text: str, stop: str) -> dict[str, PresetUser | LabelJudge | AdUser]:
    """The users in a comma-separated list under a reading of stop, or under both.

    Who grades or reads to the end never stops, and is there once.

    >>> list(users("perfect,navigational", "both"))
    ['perfect', 'navigational', 'navigational:stop=every']
    """
    chosen: dict[str, PresetUser | LabelJudge | AdUser] = {}
    for reading in lookup("reading of stop", stop, STOPS):
        for name in split_names(text):
            plain = ":" in name or reading == "click" or name in OTHERS
            full = name if plain else f"{name}:stop={reading}"
            found = user(full)
            if name in chosen and isinstance(found, PresetUser) and found.never_stops:
                continue
            chosen[full] = found
    return chosen
