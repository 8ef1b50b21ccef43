"""What is said about the progress of a sweep where there is no terminal."""

from __future__ import annotations

import io

from rich.console import Console

from rankloop.cli.lab.sweep_progress import SweepProgress
from rankloop.lab.simulation.loop import Record
from rankloop.lab.simulation.measures import read_measure
from rankloop.lab.sweeps.sweep import Cell
from rankloop.lab.sweeps.sweep_cells import Progress


def said(*ticks: tuple[int, int, str], runs: int = 4, rounds: int = 100) -> list[str]:
    """The lines that appear for (seed, round, metric); without a metric it was done before."""
    out = io.StringIO()
    with SweepProgress(Console(file=out, width=200), runs=runs, rounds=rounds) as progress:
        for seed, reached, metric in ticks:
            cell = Cell("data", "data", "perfect", "pdgd", seed)
            progress(Progress(cell, reached, Record(reached, read_measure(metric), 0.5) if metric else None))
    return [line.strip() for line in out.getvalue().splitlines()]


def test_a_line_for_every_tenth() -> None:
    lines = said(*((0, reached, "offline nDCG@10") for reached in range(0, 101, 10)), runs=1)
    assert [line.partition(" %")[0] for line in lines] == [str(tenth) for tenth in range(10, 101, 10)]
    assert "pdgd/perfect 0.500" in lines[0]
    assert "pdgd" not in lines[-1]  # that run is over


def test_what_was_done_before_is_no_news() -> None:
    before = ((0, 100, ""), (1, 100, ""))
    assert said(*before, (2, 1, "offline nDCG@10")) == []
    (line,) = said(*before, (2, 1, "offline nDCG@10"), (2, 50, "offline nDCG@10"))
    assert line.startswith("60 %")
