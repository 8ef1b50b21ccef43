"""Client of the HTTP API: the service as an object."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote, urlencode

from rankloop.candidate import Candidate, RankedList, rank_by_caller_order
from rankloop.client.transport import ClientError, Transport


class Client:
    """Ranks, reports clicks, and steers a service; safe to share between threads.

    `rank` always gives a list: if the service cannot be reached it is your own order, with the reason in
    `fallback`. Clicks are sent again until they are acknowledged, with the same id, so they count once. What
    the service refuses (a wrong key, a wrong request) raises `ClientError` with its sentence.

    >>> client = Client("http://127.0.0.1:9", "a key", retries=0)  # nobody listens there
    >>> client.rank([Candidate("a", {"price": 3}), Candidate("b", {"price": 1})]).object_ids
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
        candidates: Sequence[Candidate],
        *,
        k: int = 10,
        ranker: str = "default",
        user_query: str = "",
        client_id: str = "",
        session_id: str = "",
        query_id: str | None = None,
        user: str = "",
        context: Mapping[str, float | None] | None = None,
    ) -> RankedList:
        """A list of `k` of the candidates, which come in your own order; `context` are features of who asks.

        A `query_id` of your own, never used before, takes the place of the one that the service would give.
        """
        body: dict[str, Any] = {
            "ranker": ranker,
            "k": k,
            "user_query": user_query,
            "client_id": client_id,
            "session_id": session_id,
            **({"query_id": query_id} if query_id else {}),
            "candidates": [_to_json(each) for each in candidates],
            **({"context": {"user": user, "features": dict(context or {})}} if user or context else {}),
        }
        try:
            answer = self._transport.send("POST", "/v1/rank", body, patient=False)
        except ClientError as error:
            if 400 <= error.status < 500 and error.status != 429:
                raise
            return rank_by_caller_order(candidates, k, str(error))
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

    def portable(
        self, ranker: str = "default", *, version: int | None = None, by_document: bool = False
    ) -> dict[str, Any]:
        """What a model computes, as plain arrays, and lists to check a copy on; for `export-model`."""
        chosen = {} if version is None else {"version": version}
        return self._get("/v1/models/portable", ranker=ranker, by_document=str(by_document).lower(), **chosen)

    def rollback(
        self, ranker: str = "default", *, to: int | None = None, moment: float | None = None
    ) -> dict[str, Any]:
        """Go back to a version, or to that of a moment; a job, done or under way: see `wait`."""
        return self._ask("POST", "/v1/rollback", {"ranker": ranker, "to": to, "moment": moment})

    def forget(
        self,
        event_ids: Sequence[str] = (),
        ranker: str = "default",
        *,
        client_id: str = "",
        session_id: str = "",
        source: str = "",
        address: str = "",
        since: float | None = None,
        until: float | None = None,
        reason: str = "",
    ) -> dict[str, Any]:
        """Learn as if some events had never been; a job, done or under way: see `wait`.

        They are named by their ids, or chosen: all to which everything applies that is said. `source` is as
        the doctor shows it, `address` that of a visitor in its place; times are in seconds since 1970.
        """
        chosen = {"client_id": client_id, "session_id": session_id, "source": source, "address": address}
        times = {"since": since, "until": until}
        body = {"ranker": ranker, "event_ids": list(event_ids), "reason": reason, **chosen, **times}
        return self._ask("POST", "/v1/forget", body)

    def retire_features(
        self, names: Sequence[str] = (), ranker: str = "default", *, unused_for: float | None = None
    ) -> dict[str, Any]:
        """Learn as if these features, or those unused for so many days, had never been sent; a job."""
        body = {"ranker": ranker, "names": list(names), "unused_for": unused_for}
        return self._ask("POST", "/v1/features/retire", body)

    def jobs(self) -> list[dict[str, Any]]:
        """What takes a while, of all rankers, the newest first."""
        return list(self._transport.send("GET", "/v1/jobs"))

    def job(self, number: int) -> dict[str, Any]:
        """A job as of now: its `state`, and its `progress` from 0 to 1."""
        return self._get(f"/v1/jobs/{number}")

    def cancel_job(self, number: int, *, reason: str = "it was cancelled") -> dict[str, Any]:
        """Cancel a job that is not done: nothing is changed."""
        return self._post(f"/v1/jobs/{number}/cancel", {"reason": reason})

    def wait(
        self,
        job: Mapping[str, Any],
        *,
        every: float = 0.5,
        look: Callable[[dict[str, Any]], object] = dict,
    ) -> dict[str, Any]:
        """A job once it is done, shown to `look` meanwhile; `ClientError` if it was cancelled, or failed."""
        found = dict(job)
        while found["state"] in ("waiting", "running"):
            time.sleep(every)
            found = self.job(found["id"])
            look(found)
        if found["state"] != "done":
            raise ClientError(f"job {found['id']} was {found['state']}: {found['reason']}", status=409)
        return found

    def retain(self, days: float, ranker: str = "default") -> dict[str, Any]:
        """Delete what is older than so many days, as far as the model can do without; what is gone."""
        return self._post("/v1/retain", {"ranker": ranker, "days": days})

    # steering and watching

    def set_mode(self, mode: str, ranker: str = "default", *, reason: str = "") -> str:
        """Change the mode of a ranker."""
        body = {"ranker": ranker, "mode": mode, "reason": reason}
        return str(self._transport.send("PUT", "/v1/mode", body)["mode"])

    def create(self, name: str, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Begin a ranker."""
        return self._post("/v1/rankers", {"name": name, "settings": dict(settings or {})})

    def settings(self, ranker: str = "default") -> dict[str, Any]:
        """A ranker's settings."""
        found = self._get(f"/v1/rankers/{quote(ranker, safe='')}/settings")["settings"]
        return dict(found)

    def change(
        self,
        patch: Mapping[str, Any],
        ranker: str = "default",
        *,
        relearn: bool = False,
        confirm: str = "",
        version: int | None = None,
    ) -> int:
        """Change some settings, by a JSON merge patch; their version.

        Refused, with the reason, if that would drop what was learned or change the policy, unless `confirm`
        is that of its preview; and if a `version` is given and others are in force.
        """
        return int(self._change(patch, ranker, relearn, confirm, version)["version"])

    def preview(
        self, patch: Mapping[str, Any], ranker: str = "default", *, relearn: bool = False
    ) -> dict[str, Any]:
        """What a change of settings would do, and its `confirm`."""
        return self._change(patch, ranker, relearn, "", None, preview="true")

    def _change(
        self,
        patch: Mapping[str, Any],
        ranker: str,
        relearn: bool,
        confirm: str,
        version: int | None,
        **more: str,
    ) -> dict[str, Any]:
        query = {"relearn": str(relearn).lower(), **({"confirm": confirm} if confirm else {}), **more}
        query |= {} if version is None else {"version": str(version)}
        path = f"/v1/rankers/{quote(ranker, safe='')}/settings?{urlencode(query)}"
        return self._ask("PATCH", path, patch)

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
        """End a trial, whenever you like; the report of what it has shown."""
        return self._post(f"/v1/rankers/{quote(ranker, safe='')}/trials/{trial}/stop", {"reason": reason})

    def keys(self) -> list[dict[str, Any]]:
        """Every key by its name, also those that were revoked, the oldest first."""
        return list(self._transport.send("GET", "/v1/keys"))

    def create_key(self, name: str, scope: str, *, reason: str = "") -> str:
        """A new key; what this returns is never seen again."""
        return str(self._post("/v1/keys", {"name": name, "scope": scope, "reason": reason})["key"])

    def rotate_key(self, name: str, *, grace: float = 0.0, reason: str = "") -> str:
        """New bits for a key; the old ones open for so many seconds more."""
        path = f"/v1/keys/{quote(name, safe='')}/rotate"
        return str(self._post(path, {"grace": grace, "reason": reason})["key"])

    def revoke_key(self, name: str, *, reason: str = "") -> None:
        """Revoke a key: it stops working within a second."""
        self._transport.send("POST", f"/v1/keys/{quote(name, safe='')}/revoke", {"reason": reason})

    def decisions(
        self, ranker: str = "", *, kind: str = "", who: str = "", last: int = 100
    ) -> list[dict[str, Any]]:
        """Who decided what, when and why, the newest first."""
        query = urlencode({"ranker": ranker, "kind": kind, "who": who, "last": last})
        return list(self._transport.send("GET", f"/v1/decisions?{query}"))

    def find_person(self, *, client_id: str = "", session_id: str = "", user: str = "") -> dict[str, Any]:
        """What is stored of a person: lists, events, and how many."""
        body = {"client_id": client_id, "session_id": session_id, "user": user}
        return self._post("/v1/people/find", body)

    def delete_people(self, people: Sequence[Mapping[str, str]], *, reason: str = "") -> dict[str, Any]:
        """Delete what is stored of people, each with client_id, session_id or user; `done` says how far."""
        return self._post("/v1/people/delete", {"people": [dict(each) for each in people], "reason": reason})

    def deletions(self) -> list[dict[str, Any]]:
        """What was deleted on request, the newest first, and whether it is done."""
        return list(self._transport.send("GET", "/v1/people/deletions"))

    def what_if(
        self,
        ranker: str = "default",
        policy: str | None = None,
        *,
        other: str = "",
        depth: int = 1,
        share: float = 0.5,
        explore: bool = False,
        level: float = 0.95,
    ) -> dict[str, Any]:
        """What another policy, or another ranker, would have got; refused where the log cannot tell."""
        asked = {"ranker": ranker, "other": other, "depth": depth, "share": share, "explore": explore}
        return self._post("/v1/what-if", {**asked, "level": level, "policy": policy})

    def health(self) -> dict[str, Any]:
        """Whether the service is well; `{"ok": False}` while it says that it is not."""
        try:
            return dict(self._transport.send("GET", "/v1/health", patient=False))
        except ClientError as error:
            if error.status != 503:
                raise
            return {"ok": False}

    def close(self) -> None:
        """Let go of this thread's connection."""
        self._transport.close()

    def _get(self, path: str, **query: object) -> dict[str, Any]:
        found = self._transport.send("GET", f"{path}?{urlencode(query)}" if query else path)
        return dict(found)

    def _ask(self, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for a job, under a key of its own: sent again, it is the same job."""
        key = {"Idempotency-Key": uuid.uuid4().hex}
        return dict(self._transport.send(method, path, body, headers=key))

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        found = self._transport.send("POST", path, body)
        return dict(found)


def _to_json(candidate: Candidate) -> dict[str, Any]:
    """A candidate as the service takes it."""
    sent = {
        "object_id": candidate.object_id,
        "features": dict(candidate.features),
        "pinned_at": candidate.pinned_at,
        "group": candidate.group or None,
    }
    return sent | ({"title": candidate.title} if candidate.title else {})
