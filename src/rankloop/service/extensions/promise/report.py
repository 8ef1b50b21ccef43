"""Report of a promise of clicks: how much of its budget is spent, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankloop.service.core.ranker import Ranker
from rankloop.service.extensions.promise.fold_part import Standing
from rankloop.service.extensions.promise.live_state import SearchBudget
from rankloop.service.extensions.promise.settings import PromiseSettings


@dataclass(frozen=True, slots=True)
class PromiseReport:
    """A promise as of now. Clicks are searches with a click: one person asking one thing within a window."""

    promise: int  # the entry with which it began
    words: str  # what is promised
    searches: int  # that are over
    pending: int  # that are not
    held: int  # in the caller's order, because the budget had no room
    owned: int  # in the caller's order, by a coin, to compare with
    learned: int
    own_rate: float | None  # of clicks in the caller's order
    learned_rate: float | None
    budget: float  # clicks that may be lost: the advance, and what the share leaves of the caller's clicks
    room: float  # of it, what may still be risked: it is there with the promised confidence
    spent: float  # share of the budget that is not there any more, at worst
    free: bool  # the next search may depart from the caller's order
    sentence: str = ""  # the same in words


def promise_report(ranker: Ranker) -> PromiseReport | None:
    """How the promise stands, if clicks are promised."""
    settings, standing = ranker.settings.of(PromiseSettings), find_standing(ranker)
    return None if settings is None or standing is None else told(settings, standing)


def find_standing(ranker: Ranker) -> Standing | None:
    """How a promise stands, with lists that are not in the log yet; `None`: nothing is promised."""
    settings, budget = ranker.settings.of(PromiseSettings), ranker.lists.live_states.get("promise")
    if settings is None or not isinstance(budget, SearchBudget):
        return None
    return budget.standing(ranker.view.configuration.extension_states.get("promise") or 0, settings)


def told(settings: PromiseSettings, standing: Standing) -> PromiseReport:
    """The report of a promise.

    >>> found = told(PromiseSettings(allowed_loss=10), Standing(1, PromiseSettings().account, free=4))
    >>> round(found.spent, 2), found.free
    (0.26, True)
    """
    account = standing.account
    own = account.held + account.owned
    budget = settings.allowed_loss + (1 - settings.share) * account.due
    room = settings.allowed_loss + account.lower - account.risk * standing.free
    found = PromiseReport(
        promise=standing.promise,
        words=settings.words,
        searches=account.searches,
        pending=standing.pending,
        held=account.held,
        owned=account.owned,
        learned=account.learned,
        own_rate=account.own_clicks / own if own else None,
        learned_rate=account.learned_clicks / account.learned if account.learned else None,
        budget=budget,
        room=room,
        spent=min(max(1 - room / budget, 0.0), 1.0) if budget > 0 else 1.0,
        free=account.allows(pending=standing.free, advance=settings.allowed_loss),
    )
    return replace(found, sentence=_sentence(found))


def _sentence(found: PromiseReport) -> str:
    now = "the next search may depart from it" if found.free else "the next search keeps it"
    return (
        f"Promised: {found.words}. At worst {100 * found.spent:.0f} % of the budget of {found.budget:.1f} "
        f"clicks is spent; {found.learned:,} of {found.searches:,} searches departed from your own order, "
        f"and {now}."
    )
