"""`python -m benchmarks.refolds`: how long the n-th job takes, on a log with ever more of them behind it.

An operator forgets clicks from all over the past, rolls back, learns the log again under other settings,
forgets clicks of the last minutes, again and again; between two jobs people click. Each job is timed. At the
end the service is started again without any snapshot, and must then know the same to the bit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec import structs
from rich.console import Console
from rich.table import Table

from rankloop.candidate import Candidate
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.core.checkpoint import checkpoint_name
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, write

CONSOLE = Console(highlight=False, soft_wrap=True)
RULES = RankerSettings(window=1.0)
RANKER = "default"
END = 2**62  # beyond every entry


@dataclass
class Operator:
    """Lists and clicks, and one job after the other; all drawn from one seed."""

    service: ServiceFacade
    rng: np.random.Generator
    between: int  # lists between two jobs
    shown: int = 0

    def live(self, lists: int) -> None:
        """So many lists with a click each, learned."""
        events = []
        for _ in range(lists):
            xs = self.rng.random(6).tolist()
            shown = self.service.rank([Candidate(f"d{i}", {"x": x, "y": float(i)}) for i, x in enumerate(xs)])
            chosen = shown.object_ids[int(self.rng.integers(3))]
            events.append(UserEvent(shown.query_id, chosen, event_id=f"e{self.shown}"))
            self.shown += 1
        self.service.record(events)
        self.service.flush(RANKER)

    def forget(self) -> None:
        """Clicks from all over the past."""
        chosen = self.rng.choice(self.shown, 20, replace=False)
        self.service.forget(RANKER, [f"e{each}" for each in chosen])

    def forget_the_last(self) -> None:
        """Clicks of a moment ago."""
        chosen = self.rng.choice(np.arange(self.shown - self.between, self.shown), 5, replace=False)
        self.service.forget(RANKER, [f"e{each}" for each in chosen])

    def roll_back(self) -> None:
        """To a version that was kept."""
        versions = [version for version, _ in self.service.versions(RANKER)]
        self.service.rollback(RANKER, to=versions[int(self.rng.integers(len(versions)))])

    def relearn(self) -> None:
        """Under a window that is a little longer."""
        rules = self.service.settings(RANKER)
        self.service.configure(RANKER, structs.replace(rules, window=rules.window + 0.01), relearn=True)


@dataclass(frozen=True)
class Found:
    """The seconds of each job, and of a start after all of them without a snapshot."""

    jobs: list[tuple[str, float]]
    start: float
    same: bool


def run(folder: Path, *, lists: int, jobs: int, between: int, seed: int) -> Found:
    """Live, and have so many jobs done."""
    took = []
    with DataDirectory(folder).open() as store, ServiceFacade(store) as service:
        service.create(RANKER, RULES)
        operator = Operator(service, np.random.default_rng(seed), between)
        operator.live(lists)
        kinds: list[Callable[[], None]] = [
            operator.forget,
            operator.relearn,
            operator.roll_back,
            operator.forget_the_last,
        ]
        for number in range(jobs):
            operator.live(between)
            began = time.perf_counter()
            kinds[number % len(kinds)]()
            took.append((kinds[number % len(kinds)].__name__, time.perf_counter() - began))
        before = service.model(RANKER).policy.state()
    with SqliteStore(folder / "log.db") as store:
        for name in (RANKER, checkpoint_name(RANKER)):
            write(store, lambda job, name=name: job.delete_snapshots(name, before=END))  # type: ignore[misc]
        began = time.perf_counter()
        after = ServiceFacade(store).model(RANKER).policy.state()
        start = time.perf_counter() - began
    same = before.keys() == after.keys() and all(
        before[name].tobytes() == after[name].tobytes() for name in before
    )
    return Found(took, start, same)


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", type=int, default=2000, help="before the first job")
    parser.add_argument("--jobs", type=int, default=24)
    parser.add_argument("--between", type=int, default=50, help="lists between two jobs")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"lists": options.lists, "jobs": options.jobs, "between": options.between}
        found = run(Path(folder) / "data", **chosen, seed=options.seed)
    table = Table("n", "job", "seconds")
    for number, (kind, seconds) in enumerate(found.jobs, 1):
        table.add_row(str(number), kind.replace("_", " "), f"{seconds:.2f}")
    CONSOLE.print(table)
    total = sum(seconds for _, seconds in found.jobs)
    CONSOLE.print(f"all jobs {total:.1f} s; a start without a snapshot {found.start:.1f} s")
    CONSOLE.print("the same to the bit" if found.same else "ANOTHER MODEL")
    sys.exit(0 if found.same else 1)


if __name__ == "__main__":
    main()
