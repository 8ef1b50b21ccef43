"""Promise: at least a share of the clicks of the caller's own order, whatever is learned and tried.

A *search* is one person asking one thing within a window, with its reloads and next pages; without a session
or a client, each list is a search of its own.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from rankloop.errors import SettingError
from rankloop.evaluation import ClickAccount, SearchArm
from rankloop.evaluation.click_account import LEAST_OWN
from rankloop.service.core.settings_record import Settings, describe

BITS = 63  # of a seed


class PromiseSettings(Settings, frozen=True, kw_only=True):
    """How much of the caller's order is promised, how surely, and at which price.

    >>> PromiseSettings(share=0.9).words
    'at least 90 % of the clicks of your own order, less 20, with 95 % confidence'
    """

    about: ClassVar[Meta] = describe(
        "Click promise",
        "Guarantees a share of the clicks your own order would get; "
        "turn it on before you let the ranker experiment.",
        group="Click promise",
    )
    share: Annotated[
        float,
        Meta(gt=0, lt=1),
        describe(
            "Promised share",
            "Share of your order's searches with a click that the ranker guarantees; "
            "lower it to learn faster.",
        ),
    ] = 0.95
    confidence: Annotated[
        float,
        Meta(gt=0, lt=1),
        describe(
            "Promise confidence",
            "Probability that the promise holds at all times together; "
            "lower it to learn faster at more risk.",
        ),
    ] = 0.95
    comparison_share: Annotated[
        float,
        Meta(gt=LEAST_OWN, lt=1),
        describe(
            "Comparison share",
            "Share of free searches that still show your order for comparison; "
            "raise it to risk fewer clicks per search.",
        ),
    ] = 0.3
    allowed_loss: Annotated[
        float,
        Meta(ge=0, le=1e9),
        describe(
            "Allowed loss",
            "Searches with a click that may be lost beyond the share, in total; "
            "raise it to start learning sooner.",
            unit="searches",
            values={"0": "the ranker first shows your order until clicks build a reserve"},
        ),
    ] = 20.0

    def check(self) -> None:
        """Refuse a promise of less than what is shown in the caller's order anyway."""
        if not self.comparison_share < self.share:
            raise SettingError(
                f"comparison_share: Expected less than the share of {self.share:g}, "
                f"found {self.comparison_share:g}: with more of the lists in your own order there is "
                "nothing to promise"
            )

    @property
    def words(self) -> str:
        """In words."""
        less = f", less {self.allowed_loss:g}" if self.allowed_loss else ""
        return (
            f"at least {100 * self.share:g} % of the clicks of your own order{less}, "
            f"with {100 * self.confidence:g} % confidence"
        )

    @property
    def account(self) -> ClickAccount:
        """The account before any search."""
        chance = 1 - self.confidence
        return ClickAccount(share=self.share, chance=chance, own=self.comparison_share)

    def arm(self, coin: float, *, free: bool) -> SearchArm:
        """The arm of a search, by a coin between 0 and 1."""
        if not free:
            return "held"
        return "owned" if coin < self.comparison_share else "learned"
