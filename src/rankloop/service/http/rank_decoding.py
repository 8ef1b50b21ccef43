"""Request decoding: from the bytes of a body to what a route takes, strictly and in one step.

Litestar reads JSON into plain objects and then converts them, so that `"1"` would pass for a number; it also
takes twice as long.

A request to rank is read in half the time again, without a dictionary of features for every candidate.
Callers send the same features again and again. So their names become the fields of a structure, which msgspec
fills without making a key of each name; a body with other names is read the long way, and its names are known
from then on.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Annotated, Any

import msgspec
import numpy as np
from litestar import Request
from msgspec import Meta
from msgspec.structs import astuple

from rankloop.candidate import Candidate
from rankloop.service.core.lists.candidate_columns import Candidates, columns
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.http.body_errors import complaint
from rankloop.service.http.rank_body import CandidateHead, RankBody, RankHead
from rankloop.types import FloatArray

MOST_NAMES = 512  # known at once; beyond, they are learned anew
MISSING = float("nan")  # JSON has no such number, so nobody sent it


class RankDecoder:
    """Reads requests to rank.

    >>> request = RankDecoder().decode(b'{"candidates": [{"object_id": "a", "features": {"price": 3}}]}')
    >>> request.k, request.candidates.object_ids, request.candidates.names, request.candidates.values.tolist()
    (10, ['a'], ['price'], [[3.0]])
    """

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(RankBody)
        self._quick: _QuickDecoder | None = None

    def decode(self, body: bytes) -> RankRequest:
        """The request, or msgspec's complaint."""
        try:
            if self._quick:
                return self._quick.decode(body)
        except msgspec.ValidationError:  # other features, or something is wrong: the long way tells which
            pass
        found = self._decoder.decode(body)
        self._learn(dict.fromkeys(chain.from_iterable(each.features for each in found.candidates)))
        candidates = [
            Candidate(each.object_id, each.features, each.pinned_at, each.group or "", each.title or "")
            for each in found.candidates
        ]
        return _request(found, columns(candidates))

    def _learn(self, names: dict[str, None]) -> None:
        known = self._quick.names if self._quick else ()
        joined = dict.fromkeys(known) | names
        wanted = joined if len(joined) <= MOST_NAMES else names
        if len(wanted) > MOST_NAMES or len(wanted) == len(known):
            return
        try:
            self._quick = _QuickDecoder(tuple(wanted))  # in the order they are sent: msgspec expects it
        except ValueError:  # msgspec has no fields with quotes in their names
            self._quick = None


class _OwnCandidate(CandidateHead, kw_only=True, gc=False):
    """A candidate whose features nobody looks at."""

    features: msgspec.Raw = msgspec.Raw(b"{}")


class _OwnBody(RankHead, kw_only=True):
    candidates: Annotated[list[_OwnCandidate], Meta(min_length=1)]


class OwnOrderDecoder:
    """Reads requests that are answered in the caller's own order: a tenth of the work, without features.

    >>> body = b'{"candidates": [{"object_id": "a", "features": {"price": 3}}]}'
    >>> OwnOrderDecoder().decode(body).candidates.names
    ()
    """

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(_OwnBody)

    def decode(self, body: bytes) -> RankRequest:
        """The request, or msgspec's complaint; what is wrong with features is not seen."""
        found = self._decoder.decode(body)
        titles = [each.title or "" for each in found.candidates]
        candidates = Candidates(
            object_ids=[each.object_id for each in found.candidates],
            names=(),
            values=np.empty((len(found.candidates), 0)),
            pinned_at=[each.pinned_at or 0 for each in found.candidates],
            groups=[each.group or "" for each in found.candidates],
            titles=titles if any(titles) else (),
        )
        return _request(found, candidates)


class _QuickDecoder:
    """Reads requests in which no feature has another name than these."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        fields = [(f"f{number}", float | None, MISSING) for number in range(len(names))]
        features = msgspec.defstruct(
            "Features",
            fields,
            rename={field: name for (field, *_), name in zip(fields, names, strict=True)},
            forbid_unknown_fields=True,
            gc=False,
        )
        default = msgspec.field(default_factory=features)
        candidate: Any = msgspec.defstruct(
            "Candidate", [("features", features, default)], bases=(CandidateHead,), kw_only=True, gc=False
        )
        many = Annotated[list[candidate], Meta(min_length=1)]
        body = msgspec.defstruct("Body", [("candidates", many)], bases=(RankHead,), kw_only=True)
        self._decoder = msgspec.json.Decoder[Any](body)
        self._pack = struct.Struct(f"{len(names)}d").pack

    def decode(self, body: bytes) -> RankRequest:
        found = self._decoder.decode(body)
        names, values = self._sent([astuple(each.features) for each in found.candidates])
        pins = [each.pinned_at or 0 for each in found.candidates]
        groups = [each.group or "" for each in found.candidates]
        titles = [each.title or "" for each in found.candidates]
        candidates = Candidates(
            object_ids=[each.object_id for each in found.candidates],
            names=names,
            values=values,
            pinned_at=pins if any(pins) else (),
            groups=groups if any(groups) else (),
            titles=titles if any(titles) else (),
        )
        found.candidates.clear()  # thousands of numbers: while they are at hand, letting go of them is cheap
        return _request(found, candidates)

    def _sent(self, rows: list[tuple[float | None, ...]]) -> tuple[Sequence[str], FloatArray]:
        """The features that were sent, if only as null, and their values."""
        shape = len(rows), len(self.names)
        try:
            values = np.frombuffer(b"".join([self._pack(*row) for row in rows])).reshape(shape)
        except struct.error:  # a null
            values = np.array(rows, dtype=np.float64).reshape(shape)
        empty = np.isnan(values[0]).nonzero()[0].tolist()
        absent = [column for column in empty if all(row[column] is MISSING for row in rows)]
        if not absent:
            return self.names, values
        kept = [column for column in range(shape[1]) if column not in absent]
        return [self.names[column] for column in kept], values[:, kept]


def _request(head: RankHead, candidates: Candidates) -> RankRequest:
    return RankRequest(
        ranker=head.ranker,
        candidates=candidates,
        k=head.k,
        user_query=head.user_query,
        client_id=head.client_id,
        session_id=head.session_id,
        query_id=head.query_id,
        user=head.context.user if head.context else "",
        context=head.context.features if head.context else {},
    )


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON is of the type that its route asks for, or refused."""

    async def json(self) -> Any:
        """The body as the route's own type."""
        wanted, body = self.route_handler.parsed_data_field, await self.body()
        kind = wanted.annotation if wanted else Any
        try:
            return decoder(kind).decode(body)
        except msgspec.DecodeError as error:
            raise type(error)(complaint(error, kind, body)) from error


@cache
def decoder(kind: Any) -> msgspec.json.Decoder[Any] | RankDecoder:
    """What reads bodies of this type."""
    return RankDecoder() if kind is RankBody else msgspec.json.Decoder(kind)
