"""`make bench`: prints the tables and writes them to `build/bench.jsonl`.

Give names to measure only those: `python -m benchmarks pdgd loading`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks import loading, rounds

OUT = Path("build") / "bench.jsonl"
CONSOLE = Console()


def main(chosen: list[str]) -> None:
    """Measure on one core and report."""
    measures: dict[str, Callable[[], dict[str, object]]] = {
        name: partial(rounds.compare, name) for name in rounds.PAIRS
    }
    measures |= {f"projection, {name}": partial(rounds.projection, name) for name in rounds.DUELING}
    measures |= {"flat": rounds.flatness, "loading": loading.result}
    known = list(measures)
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"no benchmark is called {unknown[0]!r}: choose from {', '.join(known)}")
    names = track(chosen or known, description="measuring", console=CONSOLE, transient=True)
    with threadpool_limits(limits=1):
        rows = [measures[name]() for name in names]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("".join(json.dumps(row) + "\n" for row in rows))
    show_rounds([row for row in rows if row["bench"] == "rounds"])
    show_projection([row for row in rows if row["bench"] == "projection"])
    show_flat([row for row in rows if row["bench"] == "flat"])
    show_loading([row for row in rows if row["bench"] == "loading"])
    CONSOLE.print(f"written to {OUT}")


def show_rounds(rows: list[dict[str, object]]) -> None:
    """The table of policies."""
    title = (
        f"rounds: {rounds.DOCUMENTS} documents × {rounds.FEATURES} features, {rounds.SHOWN} shown, one core"
    )
    table = Table(
        title=title, caption="× plain: how many times as fast as the reference in benchmarks/reference.py"
    )
    for heading in (
        "policy",
        "rounds/s",
        "plain/s",
        "× plain",
        "serve µs",
        "click µs",
        "learn µs",
        "peak kB",
        "plain kB",
    ):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for row in rows:
        keys = ("rounds_per_second", "reference_rounds_per_second")
        tail = ("serve_us", "click_us", "learn_us", "peak_kb", "reference_peak_kb")
        cells = (
            [f"{row[key]:,.0f}" for key in keys]
            + [f"{row['ratio']:.1f}"]
            + [f"{row[key]:,.0f}" for key in tail]
        )
        table.add_row(str(row["name"]), *cells)
    if rows:
        CONSOLE.print(table)


def show_projection(rows: list[dict[str, object]]) -> None:
    """The lines about document-space projection."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']}: {row['plain_us']:.0f} µs a round, {row['projected_us']:.0f} µs with "
            f"document-space projection: × {row['ratio']:.2f}"
        )


def show_flat(rows: list[dict[str, object]]) -> None:
    """The line about time."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']}: {row['early_us']:.0f} µs a round after 100 rounds, "
            f"{row['late_us']:.0f} µs after 20,000: × {row['ratio']:.2f}"
        )


def show_loading(rows: list[dict[str, object]]) -> None:
    """The lines about files."""
    for row in rows:
        CONSOLE.print(
            f"{row['name']}: {row['first_seconds']:.2f} s the first time "
            f"({row['ratio']:.1f} × as fast as line by line), {row['again_seconds']:.3f} s after that; "
            f"peak memory {row['peak_over_matrix']:.2f} × the matrix "
            f"({row['peak_with_interpreter_over_matrix']:.2f} × with the interpreter)"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
