"""Routes for people's data: what is stored of someone, and its deletion.

Whom it is about stands in the body, never in the address: addresses are written into many logs.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import get, post
from litestar.params import JSONBody
from msgspec import Meta, Struct

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.rank_body import Id, Reason
from rankloop.service.http.route_decorators import AnyRequest, key_of, needs
from rankloop.service.operations.people import Deleted, PersonReport
from rankloop.service.operations.person_removal import MOST_PEOPLE
from rankloop.service.store import Person

ADMIN = [needs("admin")]


class PersonBody(Struct, forbid_unknown_fields=True):
    """Someone, by one or more of the ids that you know them by; whoever has one of them is meant."""

    client_id: Id = ""
    session_id: Id = ""
    user: Id = ""

    def person(self) -> Person:
        """As the service takes it."""
        return Person(client_id=self.client_id, session_id=self.session_id, user=self.user)


class PeopleBody(Struct, forbid_unknown_fields=True):
    """Whose data to delete."""

    people: Annotated[list[PersonBody], Meta(min_length=1, max_length=MOST_PEOPLE)]
    reason: Reason = ""


@post("/v1/people/find", status_code=200, guards=ADMIN, summary="What is stored of a person")
async def find_person(data: JSONBody[PersonBody], context: InjectedContext) -> PersonReport:
    """Lists and events of a person, how many, and the newest thousand of each."""
    return await context.ask(partial(context.service.find_person, data.person()))


@post("/v1/people/delete", status_code=200, guards=ADMIN, summary="Delete people's data")
async def delete_people(data: JSONBody[PeopleBody], context: InjectedContext, request: AnyRequest) -> Deleted:
    """Delete what is stored of people from log, snapshots and models; `done` once no byte of it is left."""
    people = [each.person() for each in data.people]
    job = partial(context.service.delete_people, people, by=key_of(request), reason=data.reason)
    return await context.ask(job)


@get("/v1/people/deletions", guards=ADMIN, summary="What was deleted on request")
async def deletions(context: InjectedContext) -> list[Deleted]:
    """Every deletion, the newest first, and whether it is done."""
    return await context.ask(context.service.deletions)
