"""Runner of long jobs: one thread that does what waits, in order, or whoever asks, if there is none."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from rankloop.errors import RequestError
from rankloop.service.core.ranker import Ranker
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
        jobs = ranker.view.in_force.jobs
        if number not in jobs:
            raise HistoryError(f"ranker {ranker.name!r} has no job {number}")
        return job_report(ranker, jobs[number], self._progress.get(number))

    def reports(self) -> list[JobReport]:
        """All jobs, the newest first."""
        found = {number: each for each in self._rankers().values() for number in each.view.in_force.jobs}
        return [self.report(each, number) for number, each in sorted(found.items(), reverse=True)]

    def find(self, number: int) -> Ranker:
        """Whose job it is."""
        for ranker in self._rankers().values():
            if number in ranker.view.in_force.jobs:
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
                while not self._stopped and ranker.leads and (waiting := ranker.view.in_force.waiting):
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
        ended = not ranker.view.in_force.jobs[number].waits
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
        return under_way(ranker, ranker.view.in_force.jobs[number])
