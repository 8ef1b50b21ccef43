"""What a person sees while a sweep runs."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn

from rankloop.lab.sweeps.sweep import Cell
from rankloop.lab.sweeps.sweep_cells import Progress


class SweepProgress:
    """A bar with rounds done, rounds per second, time left and the last nDCG of the runs under way.

    Where there is no terminal to draw on, a plain line appears every tenth of the way.
    """

    def __init__(self, console: Console, *, runs: int, rounds: int) -> None:
        self._console = console
        self._total = runs * rounds
        self._rounds = rounds
        self._reached: dict[Cell, int] = {}
        self._new = 0  # rounds done in this call: what the rate is made of
        self._latest: dict[Cell, str] = {}
        self._started = time.monotonic()
        self._said = 0
        self._bar = rich.progress.Progress(
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} rounds"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %  {task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[latest]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID = self._bar.add_task("", total=self._total, rate="", latest="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Take in news from a run."""
        step = progress.round - self._reached.get(progress.cell, 0)
        self._reached[progress.cell] = progress.round
        if progress.record is None:
            self._bar.update(self._task, advance=step)
            self._said = self._tenths()  # nothing to say about how fast that was
            return
        self._new += step
        if progress.record.measure.kind == "offline":
            self._latest[progress.cell] = (
                f"{progress.cell.policy}/{progress.cell.user} {progress.record.value:.3f}"
            )
        if progress.round == self._rounds:
            self._latest.pop(progress.cell, None)
        self._show(step)

    def _show(self, step: int) -> None:
        rate = self._new / max(time.monotonic() - self._started, 1e-9)
        latest = "  ".join(list(self._latest.values())[-2:])
        self._bar.update(self._task, advance=step, rate=f"{rate:,.0f}/s", latest=latest)
        if not self._console.is_terminal and self._tenths() > self._said:
            self._said = self._tenths()
            left = (self._total - sum(self._reached.values())) / max(rate, 1e-9)
            self._console.print(f"{self._said * 10:3d} %  {rate:,.0f} rounds/s  {left:,.0f} s left  {latest}")

    def _tenths(self) -> int:
        return sum(self._reached.values()) * 10 // self._total
