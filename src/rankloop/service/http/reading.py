"""From the bytes of a request to what a route takes, strictly and in one step.

Litestar reads JSON into plain objects and then converts them, so that `"1"` would pass for a number; it also
takes twice as long.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from litestar import Request
from msgspec.json import Decoder

from rankloop.service.http.asked import RankDecoder
from rankloop.service.http.bodies import RankBody


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON is of the type that its route asks for, or refused."""

    async def json(self) -> Any:
        """The body as the route's own type."""
        wanted = self.route_handler.parsed_data_field
        return decoder(wanted.annotation if wanted else Any).decode(await self.body())


def sentence(error: Exception) -> str:
    """What is wrong with a body, the place first.

    >>> sentence(ValueError("Expected `str`, got `int` - at `$.candidates[0].object_id`"))
    'candidates[0].object_id: Expected `str`, got `int`'
    """
    what, _, where = str(error).partition(" - at `$")
    place = where.rstrip("`").lstrip(".")
    return f"{place}: {what}" if place else what


@cache
def decoder(kind: Any) -> Decoder[Any] | RankDecoder:
    """What reads bodies of this type."""
    return RankDecoder() if kind is RankBody else Decoder(kind)
