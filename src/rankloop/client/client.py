"""Client of the HTTP API: the service as an object."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote, urlencode

from rankloop.client.lists import ClientError, Item, RankedList, own_order
from rankloop.client.transport import Transport


class Client:
    """Ranks, reports clicks, and steers a service; safe to share between threads.

    `rank` always gives a list: if the service cannot be reached it is your own order, with the reason in
    `fallback`. Clicks are sent again until they are acknowledged, with the same id, so they count once. What
    the service refuses (a wrong key, a wrong request) raises `ClientError` with its sentence.

    >>> client = Client("http://127.0.0.1:9", "a key", retries=0)  # nobody listens there
    >>> client.rank([Item("a", {"price": 3}), Item("b", {"price": 1})]).object_ids
    ['a', 'b']
    """

    def __init__(self, url: str, key: str, *, timeout: float = 1.0, retries: int = 3) -> None:
        self._transport = Transport(url, key, timeout=timeout, retries=retries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ranking and learning

    def rank(
        self,
        items: Sequence[Item],
        *,
        k: int = 10,
        ranker: str = "default",
        user_query: str = "",
        client_id: str = "",
        session_id: str = "",
        user: str = "",
        context: Mapping[str, float | None] | None = None,
    ) -> RankedList:
        """A list of `k` of the items, which come in your own order; `context` are features of who asks."""
        body: dict[str, Any] = {
            "ranker": ranker,
            "k": k,
            "user_query": user_query,
            "client_id": client_id,
            "session_id": session_id,
            "candidates": [item.to_json() for item in items],
            **({"context": {"user": user, "features": dict(context or {})}} if user or context else {}),
        }
        try:
            answer = self._transport.send("POST", "/v1/rank", body, patient=False)
        except ClientError as error:
            if 400 <= error.status < 500 and error.status != 429:
                raise
            return own_order(items, k, str(error))
        shown = [result["object_id"] for result in answer["ranking"]]
        return RankedList(answer["query_id"], shown, answer["provenance"]["fallback"], answer)

    def recommend(
        self,
        *,
        ranker: str = "default",
        user: str = "",
        items: Sequence[str] = (),
        answers: Mapping[str, str] | None = None,
        k: int = 10,
        **more: Any,
    ) -> RankedList:
        """A list of what someone may like best, with the reasons in `answer`; clicks go to `click` as ever.

        Unlike `rank` it has no order of yours to fall back on: if there is no answer, it raises.
        """
        body = {"ranker": ranker, "user": user, "items": list(items), "answers": dict(answers or {}), "k": k}
        answer = self._transport.send("POST", "/v1/recommend", body | more, patient=False)
        shown = [result["object_id"] for result in answer["ranking"]]
        return RankedList(answer["query_id"], shown, answer["provenance"]["fallback"], answer)

    def interview(self, answers: Mapping[str, str] | None = None, ranker: str = "default") -> dict[str, Any]:
        """The next question to a newcomer after these answers: `{question: "much" | "little" | "skip"}`."""
        return self._post("/v1/interview", {"ranker": ranker, "answers": dict(answers or {})})

    def reasons(self, query_id: str) -> dict[str, Any]:
        """Why the items of a past list were recommended."""
        return self._get(f"/v1/reasons/{quote(query_id, safe='')}")

    def click(
        self,
        shown: RankedList,
        object_id: str,
        *,
        action: str = "click",
        value: float | None = None,
        **more: Any,
    ) -> str:
        """Report what a user did with a result, and how much of it; the service's verdict: it is durable."""
        if not shown.query_id:
            return "unsent"  # the service knows nothing of this list
        names = list(shown.object_ids)
        ordinal = names.index(object_id) + 1 if object_id in names else None
        event = {
            "event_id": uuid.uuid4().hex,
            "action_name": action,
            "query_id": shown.query_id,
            "event_attributes": {
                "object": {"object_id": object_id},
                "position": {"ordinal": ordinal},
                **({} if value is None else {"value": value}),
            },
            **more,
        }
        return str(self.events([event])[0]["verdict"])

    def events(self, events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Report many at once, in the shape of UBI; give each an `event_id`, so that none counts twice."""
        answer = self._transport.send("POST", "/v1/events", {"events": [dict(event) for event in events]})
        return list(answer["receipts"])

    # the past

    def explain(self, query_id: str, a: str, b: str) -> dict[str, Any]:
        """Why one result stood above another."""
        return self._get(f"/v1/explain/{quote(query_id, safe='')}", a=a, b=b)

    def audit(self, query_id: str) -> dict[str, Any]:
        """Everything about a past list."""
        return self._get(f"/v1/audit/{quote(query_id, safe='')}")

    def replay(self, query_id: str) -> dict[str, Any]:
        """A past list, made again."""
        return self._post(f"/v1/audit/{quote(query_id, safe='')}/replay", {})

    def models(self, ranker: str = "default") -> dict[str, Any]:
        """The model in use, and past ones."""
        return self._get("/v1/models", ranker=ranker)

    def rollback(self, ranker: str = "default", *, to: int | None = None, moment: float | None = None) -> int:
        """Go back to a version, or to that of a moment; the new version's number."""
        return int(self._post("/v1/rollback", {"ranker": ranker, "to": to, "moment": moment})["version"])

    def forget(self, event_ids: Sequence[str], ranker: str = "default") -> int:
        """Learn as if these events had never been; the new version's number."""
        return int(self._post("/v1/forget", {"ranker": ranker, "event_ids": list(event_ids)})["version"])

    def retain(self, days: float, ranker: str = "default") -> dict[str, Any]:
        """Delete what is older than so many days, as far as the model can do without; what is gone."""
        return self._post("/v1/retain", {"ranker": ranker, "days": days})

    # steering and watching

    def mode(self, ranker: str = "default") -> str:
        """The rung of the ladder."""
        return str(self._get("/v1/mode", ranker=ranker)["mode"])

    def set_mode(self, mode: str, ranker: str = "default", *, reason: str = "") -> str:
        """Step up or down."""
        body = {"ranker": ranker, "mode": mode, "reason": reason}
        return str(self._transport.send("PUT", "/v1/mode", body)["mode"])

    def create(self, name: str, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Begin a ranker."""
        return self._post("/v1/rankers", {"name": name, "settings": dict(settings or {})})

    def settings(self, ranker: str = "default") -> dict[str, Any]:
        """A ranker's settings."""
        found = self._get(f"/v1/rankers/{quote(ranker, safe='')}/settings")["settings"]
        return dict(found)

    def configure(
        self, settings: Mapping[str, Any], ranker: str = "default", *, relearn: bool = False
    ) -> int:
        """Put settings into force, all of them; their version."""
        path = f"/v1/rankers/{quote(ranker, safe='')}/settings?relearn={str(relearn).lower()}"
        return int(self._transport.send("PUT", path, settings)["version"])

    def rankers(self) -> dict[str, Any]:
        """All rankers, in numbers."""
        return self._get("/v1/rankers")

    def doctor(self, *, minutes: int = 1440) -> dict[str, Any]:
        """Whether the clicks arrive."""
        return self._get("/v1/doctor", minutes=minutes)

    def overview(self, ranker: str = "default", *, minutes: int = 1440) -> dict[str, Any]:
        """Whether it learns."""
        return self._get("/v1/overview", ranker=ranker, minutes=minutes)

    def exposure(self, ranker: str = "default", *, minutes: int = 1440, steps: int = 50) -> dict[str, Any]:
        """What each group got, and what was due to it."""
        path = f"/v1/rankers/{quote(ranker, safe='')}/exposure"
        return self._get(path, minutes=minutes, steps=steps)

    def start_trial(
        self, ranker: str = "default", settings: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Compare a ranker with something else, live; the number of the trial is in `trial`."""
        return self._post(f"/v1/rankers/{quote(ranker, safe='')}/trials", settings or {})

    def trials(self, ranker: str = "default") -> list[dict[str, Any]]:
        """The trials of a ranker, and what has come of them so far, the newest first."""
        return list(self._transport.send("GET", f"/v1/rankers/{quote(ranker, safe='')}/trials"))

    def stop_trial(
        self, trial: int, ranker: str = "default", *, reason: str = "it was stopped"
    ) -> dict[str, Any]:
        """End a trial, whenever you like; what has come of it."""
        return self._post(f"/v1/rankers/{quote(ranker, safe='')}/trials/{trial}/stop", {"reason": reason})

    def health(self) -> dict[str, Any]:
        """Whether the service is well."""
        return self._get("/v1/health")

    def close(self) -> None:
        """Let go of this thread's connection."""
        self._transport.close()

    def _get(self, path: str, **query: object) -> dict[str, Any]:
        found = self._transport.send("GET", f"{path}?{urlencode(query)}" if query else path)
        return dict(found)

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        found = self._transport.send("POST", path, body)
        return dict(found)
