"""Overview page: what is it worth, is it learning, what does that cost, who is seen, and the levers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from litestar import Response, get
from litestar.params import FromQuery

from rankloop.charts import PALETTE
from rankloop.service.extensions.trial.page import TrialCard, trial_card
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.routes.health_routes import Insight, Minutes, look
from rankloop.service.pages.account import AccountBars, account_bars
from rankloop.service.pages.learning import LearnedSoFar, learned_so_far
from rankloop.service.pages.page_charts import Mark, charts
from rankloop.service.pages.ranker_status import FEW, MEANINGS, Steering, first_ranker, steering
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest
from rankloop.service.reports.decision_log import Decided
from rankloop.service.reports.health import RankerHealth
from rankloop.service.reports.traffic import By
from rankloop.service.service_facade import ServiceFacade

STRETCHES = {60: "hour", 1440: "day", 10_080: "week", 525_600: "year"}  # minutes
STEPS = 40
VERSIONS = 6  # shown
MARKS = 12  # decisions marked
GROUPS = 6  # of the exposure account
MILLIONTHS = 1_000_000  # of a look, in which an account is counted
SPARKS = 20  # steps of a small chart


@dataclass(frozen=True, slots=True)
class Looked:
    """All that the page says of a ranker."""

    seen: Insight
    health: RankerHealth
    versions: Sequence[tuple[int, float]]  # the newest first
    decided: Sequence[Decided]  # in this time, the newest first
    back: Decided | None  # the rollback that the version in use is, if it is one
    trial: TrialCard | None
    learned: LearnedSoFar | None
    account: AccountBars | None
    others: Sequence[tuple[Steering, Insight]]  # all rankers, if there are several


@get("/overview")
async def overview(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    minutes: Minutes = 1440,
    by: FromQuery[By] = "lists",
) -> Response[str]:
    """Numbers, charts, mode, versions."""
    service = context.service
    name = ranker or first_ranker(service)
    if not name:
        return pages.show(request, "overview.html", section="/overview", ranker="")
    looked = await context.ask(partial(_look, service, name, minutes, by))
    until = service.store.time(service.clock())
    drawn = list(charts(looked.seen.steps, by, _marks(looked), until))
    return pages.show(
        request,
        "overview.html",
        section="/overview",
        ranker=name,
        rankers=service.rankers(),
        looked=looked,
        health=looked.health,
        total=looked.seen.total,
        steps=looked.seen.steps,
        trial=looked.trial,
        drawn=drawn,
        charts=bool(drawn) or (looked.trial is not None and looked.trial.spec is not None),
        versions=looked.versions[:VERSIONS],
        modes=MEANINGS,
        minutes=minutes,
        stretches=STRETCHES,
        by=by,
        live=True,
    )


def _look(service: ServiceFacade, name: str, minutes: int, by: By) -> Looked:
    seen = look(service, name, minutes=minutes, steps=STEPS, by=by)
    health = RankerHealth.of(service.ranker(name))
    since = seen.steps[0].start if seen.steps else float("inf")  # what came before the first list is no mark
    decided = [each for each in service.decided(ranker=name, last=MARKS) if each.at > since]
    backs = service.decided(ranker=name, kind="rollback", last=1)
    names = service.rankers()
    return Looked(
        seen=seen,
        health=health,
        versions=service.versions(name)[::-1],
        decided=decided,
        back=backs[0] if backs and backs[0].seq == health.model else None,
        trial=trial_card(service.trial(name)),
        learned=learned_so_far(service, name),
        account=_account(service, name),
        others=[_line(service, each, minutes) for each in names[:FEW]] if len(names) > 1 else [],
    )


def _line(service: ServiceFacade, name: str, minutes: int) -> tuple[Steering, Insight]:
    """A ranker in the table of all."""
    found = steering(service, name)
    assert found is not None
    return found, look(service, name, minutes=minutes, steps=SPARKS, by="lists")


def _account(service: ServiceFacade, name: str) -> AccountBars | None:
    """Who is ahead, of a ranker that shares exposure: those who are farthest off first."""
    fair = service.settings(name).extension("fair")
    if fair is None:
        return None
    ahead = {group: off / MILLIONTHS for group, off in service.account(name).items()}
    far = sorted(ahead, key=lambda group: (-abs(ahead[group]), group))[:GROUPS]
    colours = dict(zip(sorted(far), PALETTE, strict=False))
    return account_bars({group: ahead[group] for group in far}, fair.tolerance, colours)


def _marks(looked: Looked) -> list[Mark]:
    """What was decided, numbered from the first, and the versions that were kept."""
    decided = [
        Mark(each.at, each.what, each.who, each.why, number)
        for number, each in enumerate(reversed(looked.decided), start=1)
    ]
    return [*decided, *(Mark(at, f"version {number:,} was kept") for number, at in looked.versions)]
