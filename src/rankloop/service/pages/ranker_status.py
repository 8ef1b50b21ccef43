"""Steering: what the head of every page says of a ranker, its mode and its state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankloop.service.reports.health import RankerHealth
from rankloop.service.service_facade import ServiceFacade

FEW = 12  # rankers that are listed; of more, one is named in a form
MEANINGS: Mapping[str, str] = {
    "explore": "shows what it is sure of in order, and tries out the rest; learns",
    "exploit": "shows the best by score, tries out nothing; learns",
    "frozen": "shows the best by score; learns nothing more",
    "passthrough": "shows your own order: stopped",
    "shadow": "shows your own order, and learns from it",
}
STATES: Mapping[str, tuple[str, str, str]] = {  # by mode: in a word, its look, and in a sentence
    "explore": ("learning", "good", "It learns, and tries out orders it is not sure of."),
    "exploit": ("learning", "good", "It learns, and tries out nothing."),
    "frozen": ("frozen", "accent", "It orders by what it knows, and learns nothing more."),
    "passthrough": ("stopped", "open", "It shows your own order, tries out nothing and learns nothing."),
    "shadow": ("learning unseen", "good", "It shows your own order, and learns from it."),
}


DONE: Mapping[str, str] = {  # what a lever did, said on the page that comes after it
    "mode": "The mode is changed, and in force.",
    "stop": "It is stopped: from now on every list is in your own order. What was learned is kept.",
    "resume": "It is back in the mode it was in before it was stopped.",
    "trial": "The trial has begun. Its interval is here as soon as the first session is over.",
    "trial-stop": "The trial is stopped. What it has shown is kept.",
    "rollback": "It knows again what it knew at version {to}. That is a version of its own, in use from now "
    "on: nothing was deleted.",
}


@dataclass(frozen=True, slots=True)
class Steering:
    """A ranker as the head of every page tells it."""

    ranker: str
    rankers: Sequence[str]
    mode: str
    meaning: str
    state: str  # in a word
    look: str  # good, bad, open or accent, for the colour
    sentence: str  # the state in words
    trial: int  # the trial that runs; 0: none
    mark: str  # another one whenever something has changed

    @property
    def stopped(self) -> bool:
        """Whether it shows the caller's own order by an operator's decision."""
        return self.mode == "passthrough"


def first_ranker(service: ServiceFacade) -> str:
    """The ranker to begin with, if there is one."""
    names = service.rankers()
    return "default" if "default" in names else names[0] if names else ""


def steering(service: ServiceFacade, name: str = "") -> Steering | None:
    """How a ranker is, or the first one if there is none of that name; None: there is no ranker at all."""
    names = service.rankers()
    chosen = name if name in names else first_ranker(service)
    if not chosen:
        return None
    ranker = service.ranker(chosen)
    health = RankerHealth.of(ranker)
    state, look, sentence = _state(service, chosen, health)
    trial = ranker.view.trial
    return Steering(
        ranker=chosen,
        rankers=names,
        mode=health.mode,
        meaning=MEANINGS[health.mode],
        state=state,
        look=look,
        sentence=sentence,
        trial=trial.number if trial else 0,
        mark=_mark(health, state, sentence),
    )


def mark_of(service: ServiceFacade, name: str) -> str:
    """What is another text whenever a page about this ranker would say something else."""
    found = steering(service, name)
    return found.mark if found else "nothing"


def _mark(health: RankerHealth, *said: str) -> str:
    return hashlib.sha256(repr((health, said)).encode()).hexdigest()[:16]


def _state(service: ServiceFacade, name: str, health: RankerHealth) -> tuple[str, str, str]:
    """The gravest first: trouble, then a job under way, then what the mode means."""
    if health.broken or health.trouble or health.losing:
        return "in trouble", "bad", f"This ranker {next(iter(health.findings()), 'is in trouble')}"
    ranker = service.ranker(name)
    if ranker.starting:
        return "starting", "accent", "Its log is being folded; until then it shows your own order."
    under_way = [number for number, job in ranker.view.configuration.jobs.items() if job.waits]
    if under_way:
        job = service.job(under_way[0])
        return "job running", "accent", f"A {job.kind} is under way, {100 * job.progress:.0f} % done."
    return STATES[health.mode]


def said_done(query: Mapping[str, str]) -> str:
    """What a lever did, by the address that it led to.

    >>> said_done({"done": "rollback", "to": "863"})[:46]
    'It knows again what it knew at version 863. Th'
    """
    to = query.get("to", "")
    return DONE.get(query.get("done", ""), "").format(to=to if to.isdecimal() else "?")
