"""Event doctor page: do the clicks arrive, and if not, what is wrong."""

from __future__ import annotations

from functools import partial

from litestar import Response, get

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.routes.health_routes import Minutes, diagnose
from rankloop.service.pages.overview_page import STRETCHES
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest

VERDICTS = {
    "accepted": "a click, a part of one, or a grade: it teaches",
    "late": "it came after its list had closed: counted; teaches with learn_late alone",
    "duplicate": "it was here before, and is counted once: harmless",
    "orphan": "no list was shown under its query_id",
    "not_shown": "the object was not in its list",
    "ignored": "its action has no weight in the ranker's settings",
    "invalid": "it could not be understood",
    "held": "its address or client has taught as much as one may for now: not counted",
}


@get("/doctor")
async def doctor(
    request: AnyRequest, pages: InjectedPages, context: InjectedContext, minutes: Minutes = 1440
) -> Response[str]:
    """What was made of recent events."""
    found = await context.ask(partial(diagnose, context.service, minutes))
    return pages.show(
        request,
        "doctor.html",
        section="/doctor",
        found=found,
        total=sum(found.tally.verdicts.values()),
        verdicts=VERDICTS,
        minutes=minutes,
        stretches=STRETCHES,
    )
