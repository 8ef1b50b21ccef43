"""Request schemas: what bodies may say; everything else is refused before anything happens."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from rankloop.recommend.interview import Answer
from rankloop.service.recommending.request import MOST_EXCLUDED, MOST_ITEMS
from rankloop.service.service import MOST_EVENTS
from rankloop.service.serving.request import LONGEST_QUERY
from rankloop.service.settings import Mode

Id = Annotated[str, Meta(max_length=200)]
Name = Annotated[
    str,
    Meta(pattern="^[A-Za-z0-9._-]{1,64}$", description="letters, digits, dot, dash and underscore, up to 64"),
]
MOST_RESULTS = 10_000
Answers = Annotated[
    dict[str, Answer],
    Meta(max_length=MOST_ITEMS, description='by question, as in {"feature:fit": "much"}'),
]


class CandidateHead(Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """A candidate without its features."""

    object_id: Annotated[str, Meta(min_length=1, max_length=200)]
    pinned_at: Annotated[int, Meta(ge=1, le=MOST_RESULTS)] | None = None
    group: Id | None = None


class CandidateBody(CandidateHead, kw_only=True, gc=False):
    """Something that can be shown."""

    features: Annotated[
        dict[str, float | None], Meta(description="by name; null, or not there: missing")
    ] = {}  # msgspec copies it


class ContextBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """What is known of whoever asks; no candidate's property."""

    user: Id = ""
    features: Annotated[
        dict[str, float | None], Meta(description="by name; null, or not there: missing")
    ] = {}  # msgspec copies it


class RankHead(Struct, forbid_unknown_fields=True, kw_only=True):
    """A query without its candidates."""

    ranker: str = "default"
    k: Annotated[int, Meta(ge=1, le=MOST_RESULTS, description="how many results to show")] = 10
    user_query: Annotated[str, Meta(max_length=LONGEST_QUERY)] = ""
    client_id: Id = ""
    session_id: Annotated[
        str, Meta(max_length=200, description="the same session and query meet the same order")
    ] = ""
    context: ContextBody | None = None


class RankBody(RankHead, kw_only=True):
    """A query and its candidates, in the caller's own order."""

    candidates: Annotated[list[CandidateBody], Meta(min_length=1)]


class RecommendBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """For whom to recommend, and from what is known of them."""

    ranker: str = "default"
    user: Annotated[
        str, Meta(max_length=200, description="one whom the recommender does not know is a newcomer")
    ] = ""
    items: Annotated[
        list[Id], Meta(max_length=MOST_ITEMS, description="past items, beside those it has of the user")
    ] = []  # msgspec copies it
    answers: Answers = {}  # msgspec copies it
    k: Annotated[int, Meta(ge=1, le=MOST_RESULTS, description="how many results to show")] = 10
    n_candidates: Annotated[
        int, Meta(ge=1, le=MOST_RESULTS, description="that the recommender gives to the ranker")
    ] = 100
    exclude: Annotated[
        list[Id], Meta(max_length=MOST_EXCLUDED, description="items not to recommend")
    ] = []  # msgspec copies it
    user_query: Annotated[str, Meta(max_length=LONGEST_QUERY)] = ""
    client_id: Id = ""
    session_id: Annotated[
        str, Meta(max_length=200, description="the same session and query meet the same luck")
    ] = ""
    query_id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class InterviewBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """The answers of a newcomer so far."""

    ranker: str = "default"
    answers: Answers = {}  # msgspec copies it


class EventsBody(Struct, forbid_unknown_fields=True):
    """What users did, in the shape of UBI: see `UserEvent.from_ubi`."""

    events: Annotated[
        list[dict[str, Any]],
        Meta(
            max_length=MOST_EVENTS,
            description="UBI 1.3: query_id, action_name, event_attributes.object.object_id; welcome besides: "
            "event_id, client_id, session_id, timestamp, event_attributes.position.ordinal, and "
            "event_attributes.value, a number: stars, seconds, money",
        ),
    ]


class ModeBody(Struct, forbid_unknown_fields=True):
    """A rung of the ladder."""

    mode: Mode
    ranker: str = "default"
    reason: Annotated[str, Meta(max_length=2000)] = ""


class RollbackBody(Struct, forbid_unknown_fields=True):
    """Where to go back to: a version, or the moment it was in use."""

    ranker: str = "default"
    to: int | None = None
    moment: Annotated[float, Meta(description="seconds since 1970")] | None = None


class ForgetBody(Struct, forbid_unknown_fields=True):
    """Events to learn without."""

    event_ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST_EVENTS)]
    ranker: str = "default"


class RetainBody(Struct, forbid_unknown_fields=True):
    """How much of the past to keep: since a moment, or the last days."""

    ranker: str = "default"
    since: Annotated[float, Meta(description="seconds since 1970")] | None = None
    days: Annotated[float, Meta(ge=0)] | None = None


class RankerBody(Struct, forbid_unknown_fields=True):
    """A ranker to begin with; settings that are left out have their defaults."""

    name: Name
    settings: dict[str, Any] = {}
    mode: Mode = "explore"
