"""Finding: something that is not as it should be, with its cause and a fix to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["serious", "warning", "hint"]
LEVELS: tuple[Level, ...] = ("serious", "warning", "hint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong, why as a rule, and what to do about it.

    *Serious*: nothing is learned, or wrongly, until it is mended. *Warning*: something is lost. *Hint*: it is
    harmless. The `code` names the kind, and is the same as long as the finding is.
    """

    code: str
    level: Level
    sentence: str  # with today's numbers
    cause: str = ""
    fix: str = ""  # a command, a line of code, or a setting, to copy
    ranker: str = ""  # empty: of the whole service

    @property
    def key(self) -> str:
        """What it is the same finding by, whatever its numbers are."""
        return f"{self.ranker}/{self.code}"


def gravest_first(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """By level; those of one level as they come."""
    return tuple(sorted(found, key=lambda each: LEVELS.index(each.level)))


def settings_command(patch: str, ranker: str) -> str:
    """The command that changes a setting.

    >>> print(settings_command('{"window": 60}', "shop"))
    rankloop settings change '{"window": 60}' --ranker shop
    """
    return f"rankloop settings change {shlex.quote(patch)} --ranker {shlex.quote(ranker)}"
