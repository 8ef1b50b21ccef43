"""Status of the service and of its rankers: whether everything keeps up, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from rankloop.service.ranker import Ranker
from rankloop.service.settings import Mode, RankerSettings

SKEW = 60.0  # seconds by which the log may be ahead of the clock without a word


@dataclass(frozen=True, slots=True, eq=False)
class RankerInfo:
    """A ranker as of now."""

    name: str
    policy: str  # by name
    mode: Mode
    settings: RankerSettings
    settings_version: int
    model_version: int
    features: tuple[str, ...]  # by column

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """What is in force, as of one moment."""
        terms, model = ranker.view.in_force, ranker.view.model
        return cls(
            name=ranker.name,
            policy=terms.rules.policy.name,
            mode=terms.mode,
            settings=terms.rules,
            settings_version=terms.settings,
            model_version=model.version,
            features=tuple(terms.schema),
        )


@dataclass(frozen=True, slots=True)
class RankerHealth:
    """How one ranker is."""

    mode: str
    policy: str
    model: int  # the version in use
    position: int  # the last entry that was folded
    lists: int  # learned from
    open: int  # lists with clicks whose window has not closed
    refused: int  # lists that could not be learned from
    early: int  # lists closed before their window, because too many were open
    unlogged: int  # lists that could not be written down
    ignored: tuple[str, ...]  # features that the policy cannot take in
    broken: bool  # it shows the caller's order
    trouble: str  # why it cannot learn just now
    refusal: str  # why the last list was refused

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """The state of a ranker."""
        view, fold = ranker.view, None if ranker.broken else ranker.fold
        return cls(
            mode=view.in_force.mode,
            policy=view.model.policy.name,
            model=view.model.version,
            position=fold.position if fold else 0,
            lists=view.model.lists,
            open=len(fold.open) if fold else 0,
            refused=fold.refused if fold else 0,
            early=fold.early if fold else 0,
            unlogged=ranker.unlogged,
            ignored=view.ignored,
            broken=ranker.broken,
            trouble=ranker.trouble or view.in_force.trouble,
            refusal=fold.trouble if fold else "",
        )

    def findings(self) -> Iterator[str]:
        """What is not as it should be, in words, the gravest first."""
        if self.broken:
            yield f"is broken, and shows the caller's order: {self.trouble}"
        elif self.trouble:
            yield f"cannot learn just now, and tries again: {self.trouble}"
        if self.unlogged:
            yield f"could not write down {self.unlogged} lists: clicks on them will be orphans"
        if self.ignored:
            names = ", ".join(map(repr, self.ignored))
            yield f"ignores {names}: its policy takes no more features; configure it with relearn to use all"
        if self.refused:
            yield f"could not learn from {self.refused} lists; the last one: {self.refusal}"
        if self.early:
            yield (
                f"closed {self.early} lists before their window, so that later clicks are not learned with "
                "them: more were open than max_open; raise it to what is shown within a window"
            )


@dataclass(frozen=True, slots=True)
class Health:
    """How the service is."""

    rankers: Mapping[str, RankerHealth]
    error: str = ""  # the learning thread's last one, if it has not recovered
    lag: float = 0.0  # seconds by which the log is ahead of the clock

    @property
    def ok(self) -> bool:
        """Nothing is in trouble now; lists that were refused in the past are no trouble of today."""
        well = (not (each.trouble or each.unlogged or each.ignored) for each in self.rankers.values())
        return not self.error and self.lag <= SKEW and all(well)

    @property
    def findings(self) -> tuple[str, ...]:
        """What is not as it should be, in words."""
        service = [f"learning failed: {self.error}"] if self.error else []
        if self.lag > SKEW:
            service.append(
                f"the clock is {self.lag:.0f} seconds behind the log: it was ahead once, or was set back; "
                "the log goes at half its speed until it has caught up"
            )
        rankers = [
            f"ranker {name!r} {finding}" for name, each in self.rankers.items() for finding in each.findings()
        ]
        return (*service, *rankers)


def health(rankers: Mapping[str, Ranker], *, error: str, lag: float) -> Health:
    """How the service and its rankers are."""
    return Health({name: RankerHealth.of(each) for name, each in rankers.items()}, error, lag)
