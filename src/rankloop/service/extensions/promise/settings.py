"""Promise: at least a share of the clicks of the caller's own order, whatever is learned and tried.

A *search* is one person asking one thing within a window, with its reloads and next pages; without a session
or a client, each list is a search of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from rankloop.errors import SettingError, suggest_name
from rankloop.evaluation import ClickAccount, SearchArm
from rankloop.evaluation.click_account import LEAST_OWN

BITS = 63  # of a seed
LARGEST = 1e9  # clicks in advance


@dataclass(frozen=True, kw_only=True)
class PromiseSettings:
    """How much of the caller's order is promised, how surely, and at which price.

    >>> PromiseSettings(share=0.9).words
    'at least 90 % of the clicks of your own order, less 20, with 95 % confidence'
    """

    share: float = 0.95  # of the searches with a click that the caller's own order would have had
    confidence: float = 0.95  # that this holds, at all times together
    own: float = 0.3  # share of the free searches that still get the caller's order, to compare with
    advance: float = 20.0  # searches with a click that may be missing beyond the share, over the whole life

    def __post_init__(self) -> None:
        """Refuse what could not be kept."""
        _between("share", self.share, 0.0, 1.0)
        _between("confidence", self.confidence, 0.0, 1.0)
        _between("own", self.own, LEAST_OWN, 1.0)
        if not self.own < self.share:
            raise SettingError(
                f"promise.own must be below promise.share, which is {self.share:g}: with more of the lists "
                f"in your own order there is nothing to promise, found {self.own:g}"
            )
        advance: object = self.advance
        if not _number(advance) or not 0 <= self.advance <= LARGEST:
            raise SettingError(f"promise.advance must be a number of clicks of 0 or more, found {advance!r}")

    @property
    def words(self) -> str:
        """In words."""
        less = f", less {self.advance:g}" if self.advance else ""
        return (
            f"at least {100 * self.share:g} % of the clicks of your own order{less}, "
            f"with {100 * self.confidence:g} % confidence"
        )

    @property
    def account(self) -> ClickAccount:
        """The account before any search."""
        chance = 1 - self.confidence
        return ClickAccount(share=self.share, chance=chance, own=self.own)

    def arm(self, coin: float, *, free: bool) -> SearchArm:
        """The arm of a search, by a coin between 0 and 1."""
        if not free:
            return "held"
        return "owned" if coin < self.own else "learned"

    def to_json(self) -> dict[str, Any]:
        """As JSON, with every default."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """From JSON; what is missing has its default."""
        if not isinstance(data, Mapping):
            raise SettingError(f'promise must be settings, as in {{"share": 0.95}}, or null, found {data!r}')
        names = [each.name for each in fields(cls)]
        for name in data:
            if name not in names:
                raise SettingError(f"promise has no setting {name!r}: {suggest_name(str(name), names)}")
        return cls(**data)


def _between(name: str, value: object, low: float, high: float) -> None:
    if not _number(value) or not low < value < high:  # type: ignore[operator]
        raise SettingError(f"promise.{name} must be a number between {low:g} and {high:g}, found {value!r}")


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
