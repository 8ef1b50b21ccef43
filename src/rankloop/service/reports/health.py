"""Status of the service and of its rankers: whether everything keeps up, in numbers and in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from rankloop.naming import write_name
from rankloop.service.core.finding import Finding, Level, settings_command
from rankloop.service.core.learned_part import MAX_OPEN
from rankloop.service.core.ranker import Ranker
from rankloop.service.extensions.promise.report import PromiseReport, promise_report

SKEW = 60.0  # seconds by which the log may be ahead of the clock without a word


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
    losing: bool  # the last one was among them
    ignored: tuple[str, ...]  # features that the policy cannot take in
    broken: bool  # it shows the caller's order
    trouble: str  # why it cannot learn just now
    refusal: str  # why the last list was refused
    promise: PromiseReport | None = None  # how a promise of clicks stands, if there is one

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """The state of a ranker."""
        view, fold = ranker.view, None if ranker.broken else ranker.fold
        return cls(
            mode=view.configuration.mode,
            policy=write_name(view.model.policy),
            model=view.model.version,
            position=fold.position if fold else 0,
            lists=view.model.lists,
            open=len(fold.learned.open) if fold else 0,
            refused=fold.learned.refused if fold else 0,
            early=fold.learned.early if fold else 0,
            unlogged=ranker.lists.unlogged,
            losing=ranker.lists.losing,
            ignored=view.ignored,
            broken=ranker.broken,
            trouble=ranker.problem or view.configuration.problem,
            refusal=fold.learned.problem if fold else "",
            promise=promise_report(ranker),
        )

    def findings(self) -> Iterator[str]:
        """What is not as it should be, in words that follow the ranker's name."""
        return (each.sentence.removeprefix("ranker '' ") for each in self.causes(""))

    def causes(self, name: str) -> Iterator[Finding]:
        """What is not as it should be with the ranker of this name, the gravest first."""

        def found(code: str, level: Level, said: str, cause: str, fix: str) -> Finding:
            sentence = f"ranker {name!r} {said}"
            return Finding(code=code, level=level, ranker=name, sentence=sentence, cause=cause, fix=fix)

        if self.broken:
            yield found(
                "broken",
                "serious",
                f"is broken, and shows the caller's order: {self.trouble}",
                "Its settings name a policy that this process does not have, or its log cannot be folded.",
                "rankloop verify",
            )
        elif self.trouble:
            yield found(
                "cannot-learn",
                "serious",
                f"cannot learn just now, and tries again: {self.trouble}",
                "The store cannot be read or written, or the policy fails on what it is given.",
                "rankloop verify",
            )
        if self.unlogged:
            yield found(
                "unlogged",
                "serious" if self.losing else "warning",
                f"could not write down {self.unlogged} lists: clicks on them will be orphans",
                "The disk is full, or the database was away.",
                "df -h   # and rankloop retain --days 90, if the log is what fills it",
            )
        if self.ignored:
            names = ", ".join(map(repr, self.ignored))
            yield found(
                "ignored-features",
                "serious",
                f"ignores {names}: its policy takes no more features; configure it with relearn to use all",
                "They came after the policy had begun to learn, and it cannot widen what it knows.",
                settings_command("{}", name) + " --relearn --yes",
            )
        if self.refused:
            yield found(
                "refused-lists",
                "warning",
                f"could not learn from {self.refused} lists; the last one: {self.refusal}",
                "What was shown, or what came back, is nothing this policy can learn from.",
                f"rankloop settings show --ranker {shlex.quote(name)}",
            )
        if self.early:
            yield found(
                "closed-early",
                "warning",
                f"closed {self.early} lists before their window, so that later clicks are not learned with "
                f"them: more than {MAX_OPEN:,} clicked lists were open at once",
                f"More than {MAX_OPEN:,} clicked lists were open at once.",
                settings_command('{"window": <half of it>}', name),
            )


@dataclass(frozen=True, slots=True)
class Health:
    """How the service is."""

    rankers: Mapping[str, RankerHealth]
    error: str = ""  # the learning thread's last one, if it has not recovered
    lag: float = 0.0  # seconds by which the log is ahead of the clock

    @property
    def ok(self) -> bool:
        """Nothing is in trouble now; lists refused or lost in the past are no trouble of today."""
        well = (not (each.trouble or each.losing or each.ignored) for each in self.rankers.values())
        return not self.error and self.lag <= SKEW and all(well)

    @property
    def findings(self) -> tuple[str, ...]:
        """What is not as it should be, in words."""
        return tuple(each.sentence for each in self.causes)

    @property
    def causes(self) -> tuple[Finding, ...]:
        """The same with causes, and fixes to copy."""
        service = []
        if self.error:
            service.append(
                Finding(
                    code="learning-failed",
                    level="serious",
                    sentence=f"learning failed: {self.error}",
                    cause="The store cannot be read or written, as a rule.",
                    fix="rankloop verify",
                )
            )
        if self.lag > SKEW:
            service.append(
                Finding(
                    code="clock-behind",
                    level="serious",
                    sentence=f"the clock is {self.lag:.0f} seconds behind the log: it was ahead once, or was "
                    "set back; the log goes at half its speed until it has caught up",
                    cause="The machine's clock was wrong when entries were written, or is wrong now.",
                    fix="timedatectl   # is the clock synchronised?",
                )
            )
        rankers = [finding for name, each in self.rankers.items() for finding in each.causes(name)]
        return (*service, *rankers)


def health(rankers: Mapping[str, Ranker], *, error: str, lag: float) -> Health:
    """How the service and its rankers are."""
    return Health({name: RankerHealth.of(each) for name, each in rankers.items()}, error, lag)
