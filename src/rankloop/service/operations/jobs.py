"""Long jobs of a ranker: asked for once, done beside serving, and swapped in when they have caught up.

What a decision means is the fold's business (`rankloop.service.core.fold`); here it is only prepared, so
that whoever folds the decision finds the work done. A process that dies leaves a job that waits, and a
checkpoint: the next one goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from rankloop.errors import RequestError
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.fold import EntriesDeleted, Fold
from rankloop.service.core.history import History
from rankloop.service.core.job_record import JobKind, LongJob, digest_of
from rankloop.service.core.model import Model
from rankloop.service.core.past_decisions import END
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.rebuild import RebuildSpec, first_width
from rankloop.service.core.settings_change import check_version
from rankloop.service.core.settings_record import read_settings
from rankloop.service.operations.rebuild_requests import check_columns
from rankloop.service.operations.rollback import check_events
from rankloop.service.service_errors import ConflictError, HistoryError
from rankloop.service.store import Logged, Store, StoreError

EVERY = 1000  # entries between two checkpoints
NEAR = 50  # entries: a refold that is no further behind can be swapped in
NOTHING: Mapping[str, str] = MappingProxyType({})  # is said of who decides, and why
Shown: TypeAlias = Literal["waiting", "running", "done", "cancelled", "failed"]


class Interrupted(Exception):
    """The job was cancelled, or the process ends: whoever does it lets it lie."""


@dataclass(eq=False)
class Progress:
    """How far a job is; written by the thread that does it, and read by anyone."""

    ranker: Ranker
    number: int
    stopped: Callable[[], bool] = bool
    folded: int = 0  # entries, by this process
    position: int = 0  # the entry that the refold is at
    of: int = 0  # the entry it is going to
    trouble: str = ""  # why it cannot go on just now
    kept: int = 0  # of these entries, how many when a checkpoint was last left
    said: Mapping[str, str] = field(default_factory=dict)  # by whom it was asked for, and why
    before: Configuration = field(
        default_factory=Configuration, repr=False
    )  # what was in force when it was begun

    def __call__(self, fold: Fold) -> None:
        """Before each entry: note it, and stop if the job is not wanted any more."""
        if self.stopped() or not self.ranker.view.configuration.jobs[self.number].waits:
            raise Interrupted
        self.folded += 1
        self.position = fold.position

    @property
    def share(self) -> float:
        """Of the work that is done."""
        return min(self.position / self.of, 1.0) if self.of else 0.0


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job as of now."""

    id: int
    ranker: str
    kind: JobKind
    state: Shown
    asked_at: float
    ended_at: float | None
    progress: float  # from 0 to 1
    folded: int  # entries that were learned again, by this process
    version: int | None  # the version that it made
    reason: str  # why it was cancelled, or failed
    trouble: str  # why it cannot go on just now

    @property
    def done(self) -> bool:
        """Whether what was asked for is in force."""
        return self.state == "done"

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in ("waiting", "running")


def under_way(ranker: Ranker, job: LongJob) -> bool:
    """Whether a job has not ended, or is done in the log and not yet in what lists are made by here."""
    return job.waits or (job.state == "done" and not ranker.broken and ranker.seen < job.ended)


def job_report(ranker: Ranker, job: LongJob, progress: Progress | None) -> JobReport:
    """What the log says of a job, and how far this process is with it."""
    done = job.state == "done"
    running = under_way(ranker, job) and (done or progress is not None)
    return JobReport(
        id=job.number,
        ranker=ranker.name,
        kind=job.kind,
        state="running" if running else job.state,
        asked_at=job.at,
        ended_at=None if running else job.ended_at,
        progress=1.0 if done else progress.share if progress else 0.0,
        folded=progress.folded if progress else 0,
        version=job.ended if done and not running else None,
        reason=job.reason,
        trouble=progress.trouble if progress and job.waits else "",
    )


# asking, and taking back


def ask(
    ranker: Ranker,
    kind: JobKind,
    body: Mapping[str, Any],
    *,
    key: str = "",
    said: Mapping[str, str] = NOTHING,
    check: Callable[[Configuration], None] = lambda configuration: None,  # noqa: ARG005
) -> int:
    """Ask for a job; its number. Whoever asks for the same again gets the same job.

    `said` is by whom it is asked for, and why: the decision that comes of it says so, too.
    """
    _ = ranker.fold  # one that is broken says so
    digest = digest_of(kind, body)

    def choose(configuration: Configuration) -> tuple[str, Mapping[str, Any]] | int:
        same = _asked_before(configuration.jobs, kind, digest, key)
        if same is not None:
            return same.number
        check(configuration)
        asked = {"kind": kind, "body": body, "request": digest, **({"key": key} if key else {})}
        return "job", {**asked, **said}

    return ranker.decide_if(choose)


def ask_to_relearn(
    ranker: Ranker,
    settings: BaseRankerSettings,
    version: int | None,
    *,
    key: str = "",
    said: Mapping[str, str] = NOTHING,
) -> int:
    """Ask for the log to be learned again under other settings, which are then in force; the job's number."""
    body, check = {"settings": settings.to_log()}, partial(check_version, version)
    return ask(ranker, "relearn", body, key=key, said=said, check=check)


def _asked_before(jobs: Mapping[int, LongJob], kind: JobKind, digest: str, key: str) -> LongJob | None:
    """By key, whatever has become of it; by the request, if it waits, or could not change anything again."""
    for _, job in sorted(jobs.items(), reverse=True):
        if key and job.key == key:
            if job.request != digest:
                raise ConflictError(f"the key {key!r} was used for another request: job {job.number}")
            return job
        again = job.waits or (kind == "forget" and job.state == "done")
        if not key and job.request == digest and again:
            return job
    return None


def cancel(ranker: Ranker, number: int, said: Mapping[str, str]) -> None:
    """End a job that is not done; nothing comes of it."""
    if not end(ranker, number, "cancelled", said):
        state = ranker.view.configuration.jobs[number].state
        raise ConflictError(f"job {number} cannot be cancelled: it is {state}")


def end(ranker: Ranker, number: int, state: Literal["cancelled", "failed"], said: Mapping[str, str]) -> int:
    """Write down that nothing comes of a job; the entry's number, or 0 if the job has ended before."""

    def choose(configuration: Configuration) -> tuple[str, Mapping[str, Any]] | int:
        if number not in configuration.jobs:
            raise HistoryError(f"ranker {ranker.name!r} has no job {number}")
        if not configuration.jobs[number].waits:
            return 0
        return "job_end", {"job": number, "state": state, **said}

    return ranker.decide_if(choose)


def version_of(report: JobReport) -> int:
    """The version that a job has made; an error says why there is none yet, or will be none."""
    if report.version is not None:
        return report.version
    if report.ended:
        raise ConflictError(f"job {report.id} was {report.state}: {report.reason}")
    raise StoreError(f"job {report.id} is not done, and will be gone on with: {report.trouble}")


# doing


def carry_out(ranker: Ranker, store: Store, progress: Progress) -> None:
    """Do a job, or what is left of it; what is wrong with it ends it, all else may be tried again."""
    number, progress.before = progress.number, ranker.refresh().configuration
    asked = next(each for each in store.read_decisions(ranker.name, kinds=("job",), after=number - 1))
    kind, body = asked.body["kind"], asked.body["body"]
    progress.said = {name: asked.body[name] for name in ("by", "reason") if name in asked.body}
    ranker.catch_up()  # one that cannot be read just now says nothing about the job
    try:
        if kind == "rollback":
            _roll_back(ranker, progress, body)
        else:
            _refold(ranker, store, progress, kind, body)
    except (RequestError, HistoryError) as error:
        end(ranker, number, "failed", {"reason": str(error)[:2000]})
    ranker.history.drop_checkpoints()
    ranker.try_to_catch_up()


def _beside(ranker: Ranker, progress: Progress) -> History:
    """A history to learn the log again with, beside the ranker; on the way it leaves checkpoints."""

    def save(fold: Fold) -> None:
        progress.kept = progress.folded
        history.save_checkpoint(fold)

    def on_entry(fold: Fold, _: Logged) -> None:
        if progress.folded - progress.kept >= EVERY:
            save(fold)

    history = ranker.background_history(progress, on_entry, on_target=save)
    return history


def _refold(ranker: Ranker, store: Store, progress: Progress, kind: JobKind, body: Mapping[str, Any]) -> None:
    """Learn the log again, without some events or features, or under other settings, and swap that in."""
    history, decided = _beside(ranker, progress), 0
    if kind == "forget":
        check_events(ranker.name, store, body["events"])  # some may have been discarded
    if kind == "retire":
        check_columns(ranker, ranker.view.configuration, body["columns"])
    ids, retired = frozenset(body.get("events", ())), frozenset(body.get("columns", ()))
    said = body.get("settings")
    settings = None if said is None else read_settings(history.registry.settings_type, said)
    effect = ("settings", {**body, "relearn": True}) if kind == "relearn" else (kind, body)
    while not decided:
        spec = history.spec(END, without=ids, settings=settings, retired=retired)
        fold = _catch_up_closely(history, spec, progress)
        decide = partial(_decide, ranker, progress, *effect, fits=partial(_same_width, spec))
        decided = ranker.swap_in(fold, decide)


def _roll_back(ranker: Ranker, progress: Progress, body: Mapping[str, Any]) -> None:
    """Rebuild an earlier model, and have it hold again; what was forgotten stays forgotten."""
    history, decided = _beside(ranker, progress), 0
    while not decided:
        configuration, spec = ranker.view.configuration, ranker.fold.spec
        past, known = _returned_to(ranker, history, progress, body)
        model = past if spec == known else history.model_under(spec, past.version)
        ranker.prepare_rollback(past.version, model)
        effect, fits = {"to": past.version}, partial(_same_settings, configuration)
        decided = _decide(ranker, progress, "rollback", effect, fits=fits)


def _returned_to(
    ranker: Ranker, history: History, progress: Progress, body: Mapping[str, Any]
) -> tuple[Model, RebuildSpec]:
    """The model of the version, or of the moment, that was asked for, and by which spec it was rebuilt.

    It is refused if it cannot hold again.
    """
    head, moment = ranker.view.model, body.get("moment")
    target = int(body["to"]) if moment is None else history.version_at(moment)
    if not 0 < target <= head.version:
        raise RequestError(f"no version {target}: {ranker.name!r} is at version {head.version}")
    progress.of, spec = target, history.spec(target)
    past = history.model_under(spec, target)
    if past.retired != head.retired:
        raise RequestError(
            f"version {target} is from before features were retired: it cannot hold again, for it knew them"
        )
    if not head.policy.continues(past.policy) or type(past.scale) is not type(head.scale):
        raise RequestError(
            f"version {target} was {past.policy!r}, now it is {head.policy!r}, or the scaling is another: "
            "configure those first"
        )
    return past, spec


def _catch_up_closely(history: History, spec: RebuildSpec, progress: Progress) -> Fold:
    """The fold of a spec near the end of the log."""
    fold = history.find_start(spec, END)
    while True:
        progress.of = max(progress.ranker.fold.position, fold.position, 1)
        began = progress.folded
        fold = history.fold_until(fold)
        if progress.folded - began <= NEAR:
            return fold


def _decide(
    ranker: Ranker,
    progress: Progress,
    kind: str,
    body: Mapping[str, Any],
    *,
    fits: Callable[[Configuration], bool],
) -> int:
    """Write the decision that was prepared; 0 if what was prepared does not fit any more."""

    def choose(configuration: Configuration) -> tuple[str, Mapping[str, Any]] | int:
        if not configuration.jobs[progress.number].waits:
            raise Interrupted
        if configuration.deleted != progress.before.deleted:  # it may know them, or name them
            raise EntriesDeleted("people's data were deleted meanwhile: it is begun anew")
        return (kind, {**body, **progress.said, "job": progress.number}) if fits(configuration) else 0

    return ranker.decide_if(choose)


def _same_settings(before: Configuration, configuration: Configuration) -> bool:
    """Whether the settings are those by which it was found that an earlier model can hold again."""
    return (
        configuration.settings_version == before.settings_version
        and configuration.schema.retired.keys() == before.schema.retired.keys()
    )


def _same_width(spec: RebuildSpec, configuration: Configuration) -> bool:
    """Whether a refold would begin as wide as it did: features may have come meanwhile, or been retired."""
    gone = spec.retired | configuration.schema.retired.keys()
    same = (
        spec.policy is None
        or first_width(spec.policy, len(configuration.schema.names) - len(gone)) == spec.width
    )
    return same and gone == spec.retired
