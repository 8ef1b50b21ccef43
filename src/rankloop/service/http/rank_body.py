"""Request schemas: what bodies may say; everything else is refused before anything happens."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from rankloop.recommend.interview import Answer
from rankloop.service.core.lists.rank_request import LONGEST_QUERY
from rankloop.service.core.ranker_settings import Mode
from rankloop.service.events.events import MOST_EVENTS
from rankloop.service.extensions.recommend.recommend_request import MOST_EXCLUDED, MOST_ITEMS
from rankloop.service.operations.api_keys import Scope

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
    title: Annotated[str, Meta(max_length=200, description="for people who look at past lists")] | None = None


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
    query_id: (
        Annotated[str, Meta(min_length=1, max_length=200, description="your own, never used before")] | None
    ) = None
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


Reason = Annotated[str, Meta(max_length=2000, description="why; it stays in the decision log")]


class ModeBody(Struct, forbid_unknown_fields=True):
    """A mode, for a ranker."""

    mode: Mode
    ranker: str = "default"
    reason: Reason = ""


class RollbackBody(Struct, forbid_unknown_fields=True):
    """Where to go back to: a version, or the moment it was in use."""

    ranker: str = "default"
    to: int | None = None
    moment: Annotated[float, Meta(description="seconds since 1970")] | None = None
    reason: Reason = ""


class UndoBody(Struct, forbid_unknown_fields=True):
    """Why a decision is to be undone, and the `confirm` of the preview."""

    reason: Reason
    confirm: Annotated[str, Meta(max_length=64)] = ""


class RetireBody(Struct, forbid_unknown_fields=True):
    """Features to learn without: by their names, or those that were in no list for so many days."""

    names: Annotated[list[Id], Meta(max_length=10_000)] = []  # msgspec copies it
    ranker: str = "default"
    unused_for: Annotated[float, Meta(gt=0, description="days")] | None = None
    reason: Reason = ""


class ForgetBody(Struct, forbid_unknown_fields=True):
    """Events to learn without: by their ids, or all to which everything applies that is said."""

    event_ids: Annotated[list[Id], Meta(max_length=MOST_EVENTS)] = []  # msgspec copies it
    ranker: str = "default"
    client_id: Id = ""
    session_id: Id = ""
    source: Annotated[str, Meta(max_length=200, description="as the doctor and the audit show it")] = ""
    address: Annotated[str, Meta(max_length=200, description="in place of the source that it has")] = ""
    since: Annotated[float, Meta(description="seconds since 1970")] | None = None
    until: Annotated[float, Meta(description="seconds since 1970")] | None = None
    reason: Reason = ""


class RetainBody(Struct, forbid_unknown_fields=True):
    """How much of the past to keep: since a moment, or the last days."""

    ranker: str = "default"
    since: Annotated[float, Meta(description="seconds since 1970")] | None = None
    days: Annotated[float, Meta(ge=0)] | None = None
    reason: Reason = ""


class RankerBody(Struct, forbid_unknown_fields=True):
    """A ranker to begin with; settings that are left out have their defaults."""

    name: Name
    settings: dict[str, Any] = {}
    mode: Mode = "explore"
    reason: Reason = ""


class KeyBody(Struct, forbid_unknown_fields=True):
    """A key to be made."""

    name: Name
    scope: Scope
    reason: Reason = ""


class RotateBody(Struct, forbid_unknown_fields=True):
    """How a key gets new bits."""

    grace: Annotated[float, Meta(ge=0, description="seconds for which the old bits open, too")] = 0.0
    reason: Reason = ""


class ReasonBody(Struct, forbid_unknown_fields=True):
    """Why."""

    reason: Reason = ""
