"""Runner of long jobs: one thread that does what waits, in order, or whoever asks, if there is none."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rankloop.errors import RequestError
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.events.event_selection import EventSelection
from rankloop.service.operations.jobs import (
    Interrupted,
    JobReport,
    Progress,
    cancel,
    carry_out,
    job_report,
    under_way,
)
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Store

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade

EVERY = 0.5  # seconds between two looks for jobs, also of other processes
MOMENT = 2.0  # seconds: a job that takes no longer is done when it is answered
LOGGER = logging.getLogger("rankloop.service")


class JobRunner:
    """Does the jobs that wait, of one ranker after the other; those of one ranker in the order of the log.

    In the `background`, a thread does; of several processes on one store, that of a ranker's learner. A job
    that cannot go on just now is tried again; one that the end of the process interrupts is resumed by the
    next.
    """

    def __init__(
        self, rankers: Callable[[], Mapping[str, Ranker]], store: Store, *, background: bool
    ) -> None:
        self._rankers, self._store = rankers, store
        self._progress: dict[int, Progress] = {}
        self._stopped = False
        self._changed, self._woken = threading.Condition(), threading.Event()
        self._doing = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True) if background else None
        if self._thread:
            self._thread.start()

    @property
    def inline(self) -> bool:
        """Whether jobs are done by whoever asks for them."""
        return self._thread is None

    def soon(self, ranker: Ranker, number: int, *, seconds: float | None = MOMENT) -> JobReport:
        """A job that was just asked for: done, if it takes no longer than so many seconds.

        `RequestError` if it has failed by then.
        """
        if self.inline:
            self.work()
        else:
            self._woken.set()
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or not self._under_way(ranker, number), seconds)
        report = self.report(ranker, number)
        if report.state == "failed":
            raise RequestError(report.reason)
        return report

    def report(self, ranker: Ranker, number: int) -> JobReport:
        """A job as of now."""
        jobs = ranker.view.configuration.jobs
        if number not in jobs:
            raise HistoryError(f"ranker {ranker.name!r} has no job {number}")
        return job_report(ranker, jobs[number], self._progress.get(number))

    def reports(self) -> list[JobReport]:
        """All jobs, the newest first."""
        found = {number: each for each in self._rankers().values() for number in each.view.configuration.jobs}
        return [self.report(each, number) for number, each in sorted(found.items(), reverse=True)]

    def find(self, number: int) -> Ranker:
        """Whose job it is."""
        for ranker in self._rankers().values():
            if number in ranker.view.configuration.jobs:
                return ranker
        raise HistoryError(f"there is no job {number}")

    def cancel(self, number: int, said: Mapping[str, str]) -> JobReport:
        """End a job that is not done."""
        ranker = self.find(number)
        cancel(ranker, number, said)
        return self.report(ranker, number)

    def work(self) -> None:
        """Do what waits; nothing that goes wrong with one job keeps another waiting."""
        with self._doing:
            for ranker in self._rankers().values():
                while not self._stopped and ranker.leads and (waiting := ranker.view.configuration.waiting):
                    if not self._do(ranker, waiting[0].number):
                        break

    def stop(self) -> None:
        """Let a job that is being done lie, and end the thread that does it."""
        if self._thread:
            self._stopped = True
            self._woken.set()
            with self._changed:
                self._changed.notify_all()
            self._thread.join()

    def _do(self, ranker: Ranker, number: int) -> bool:
        """Do a job; whether the next one can be begun."""
        progress = self._progress.setdefault(number, Progress(ranker, number, lambda: self._stopped))
        try:
            carry_out(ranker, self._store, progress)
            progress.trouble = ""
        except Interrupted:
            ranker.try_to_catch_up()
        except Exception as error:  # whatever it is, it is tried again, and others go on
            trouble = f"{type(error).__name__}: {error}"
            if trouble != progress.trouble:
                LOGGER.warning("job %d of ranker %r cannot go on just now: %s", number, ranker.name, trouble)
            progress.trouble = trouble
        ended = not ranker.view.configuration.jobs[number].waits
        with self._changed:
            self._changed.notify_all()
        return ended

    def _work(self) -> None:
        while not self._stopped:
            self._woken.wait(EVERY)
            self._woken.clear()
            self.work()
            with self._changed:
                self._changed.notify_all()  # another process may have done a job, or cancelled it

    def _under_way(self, ranker: Ranker, number: int) -> bool:
        return under_way(ranker, ranker.view.configuration.jobs[number])


class Jobs:
    """Long jobs of a service, as `service.jobs`: changes for which a log is learned again beside serving.

    Each is done when its method returns if it takes no longer than a moment, and otherwise under way. The
    same `key` is the same job, whenever it is asked for.
    """

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def forget(
        self,
        ranker: str,
        event_ids: Iterable[str] | EventSelection,
        *,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Learn the log again as if these events had never been."""
        return self._facade.forget(ranker, event_ids, key=key, by=by, reason=reason)

    def retire_features(
        self,
        ranker: str,
        names: Iterable[str] = (),
        *,
        unused_for: float | None = None,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Learn the log again as if these features, or those unused for so many days, had never been sent."""
        return self._facade.retire_features(
            ranker, names, unused_for=unused_for, key=key, by=by, reason=reason
        )

    def relearn(
        self,
        ranker: str,
        settings: BaseRankerSettings,
        *,
        version: int | None = None,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Learn the log again as if these settings had always been in force, and put them into force.

        With a `version`, it is refused unless that version of the settings is in force.
        """
        return self._facade.adopt(ranker, settings, version=version, key=key, by=by, reason=reason)

    def roll_back(
        self,
        ranker: str,
        *,
        to: int | None = None,
        moment: float | None = None,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Return to an earlier version, or to that of a moment; nothing is deleted."""
        return self._facade.rollback(ranker, to=to, moment=moment, key=key, by=by, reason=reason)

    def list(self) -> Sequence[JobReport]:
        """Return the jobs of all rankers, the newest first."""
        return self._facade.jobs()

    def get(self, number: int) -> JobReport:
        """Return a job as of now."""
        return self._facade.job(number)

    def cancel(self, number: int, *, by: str = "", reason: str = "it was cancelled") -> JobReport:
        """Cancel a job that is not done: nothing is changed."""
        return self._facade.cancel_job(number, by=by, reason=reason)
