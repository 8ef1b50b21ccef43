"""Long job: a change of a ranker that needs its log learned again, as the log tells of it.

It begins with a decision `job`, which changes nothing. The log is learned again beside the ranker, which goes
on as it is; when that has caught up, the decision that was asked for is written, with the job's number, and
takes effect where it stands. A job that is cancelled or fails ends with `job_end`. So which jobs wait is a
fold of the log, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, TypeAlias

from rankloop.service.service_errors import ConflictError
from rankloop.service.store import Decision

JobKind: TypeAlias = Literal["forget", "relearn", "rollback", "retire"]
JobState: TypeAlias = Literal["waiting", "done", "cancelled", "failed"]
KINDS = ("job", "job_end", "forget", "settings", "rollback", "retire")  # decisions that begin or end one


@dataclass(frozen=True, slots=True, kw_only=True)
class LongJob:
    """A job that was asked for, and whether it has ended.

    >>> jobs = jobs_after({}, Decision(seq=7, at=0.0, ranker="shop", kind="job", body={"kind": "forget"}))
    >>> jobs_after(jobs, Decision(seq=9, at=3.0, ranker="shop", kind="forget", body={"job": 7}))[7].state
    'done'
    """

    number: int  # the entry that asked for it
    at: float
    kind: JobKind
    request: str  # digest of what was asked for
    key: str = ""  # of whoever may ask for the same again
    state: JobState = "waiting"
    ended: int = 0  # the entry that ended it; of one that is done, the version that it made
    ended_at: float | None = None
    reason: str = ""  # why it was cancelled, or failed

    @classmethod
    def asked(cls, decision: Decision) -> Self:
        """The job that a decision asks for."""
        body = decision.body
        digest = body.get("request", "")
        return cls(
            number=decision.seq, at=decision.at, kind=body["kind"], request=digest, key=body.get("key", "")
        )

    @property
    def waits(self) -> bool:
        """Whether it has not ended."""
        return self.state == "waiting"


def digest_of(kind: JobKind, body: Mapping[str, Any]) -> str:
    """What tells two requests apart.

    >>> digest_of("rollback", {"to": 3}) == digest_of("rollback", {"to": 4})
    False
    """
    said = json.dumps([kind, body], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()


def jobs_after(jobs: Mapping[int, LongJob], decision: Decision) -> Mapping[int, LongJob]:
    """The jobs after one more decision."""
    if decision.kind == "job":
        return {**jobs, decision.seq: LongJob.asked(decision)}
    number = int(decision.body.get("job", 0))
    if decision.kind not in KINDS or number not in jobs or not jobs[number].waits:
        return jobs
    ended = decision.kind == "job_end"
    job = replace(
        jobs[number],
        state=decision.body["state"] if ended else "done",
        ended=decision.seq,
        ended_at=decision.at,
        reason=str(decision.body.get("reason", "")) if ended else "",
    )
    return {**jobs, number: job}


class HasJobs(Protocol):
    """What is in force, as far as jobs are concerned."""

    @property
    def waiting(self) -> tuple[LongJob, ...]:
        """The jobs that have not ended."""
        ...


def refuse_while_jobs_wait(configuration: HasJobs, what: str) -> None:
    """Say no to what would pull the log away from under a job."""
    if configuration.waiting:
        number, kind = configuration.waiting[0].number, configuration.waiting[0].kind
        raise ConflictError(f"job {number} ({kind}) is not done: wait for it or cancel it, then {what}")
