"""`python -m benchmarks.chaos --kills 60`: three replicas, four clients, one PostgreSQL; parts are killed.

Replicas, the learner and the database (immediate shutdown) by chance, and the learner's cable to the database
is cut twice; the clock of one replica is two hours ahead, that of another three behind. With `--operators 2`
jobs are asked for at two replicas at once, with `--promise` searches are counted. Afterwards every
acknowledged event must be in the log once, every list that was answered without a mark must be there as it
was answered, every job must have ended, and every replica must know the same as a fresh fold of the log, to
the bit. It ends with 1 if a promise was broken.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.chaos.run import Findings, chaos

CONSOLE = Console()


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--cuts", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--behind", action="store_true", help="lists are written behind their answers")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two kills, in the mean")
    parser.add_argument(
        "--operators", type=int, default=0, help="who forget, relearn and roll back meanwhile"
    )
    parser.add_argument("--promise", action="store_true", help="with a promise of clicks")
    chosen = parser.parse_args()
    durable = not chosen.behind
    found = chaos(
        kills=chosen.kills,
        cuts=chosen.cuts,
        seed=chosen.seed,
        durable=durable,
        pause=chosen.pause,
        on_disk=True,
        operators=chosen.operators,
        promise=chosen.promise,
        say=CONSOLE.print,
    )
    CONSOLE.print(table(found, durable=durable))
    broken = found.broken(durable=durable)
    CONSOLE.print("broken: " + "; ".join(broken) if broken else "every promise was kept")
    return 1 if broken else 0


def table(found: Findings, *, durable: bool) -> Table:
    """What was seen."""
    shown = Table(
        "", "", title="lists durable before they are answered" if durable else "lists written behind"
    )
    waits = np.concatenate([each.waits for each in found.notes])
    refused = sum((each.refused for each in found.notes), Counter[str]())
    takeovers = found.takeovers or [0.0]
    p50, p99 = np.quantile(waits, [0.5, 0.99]) * 1e3
    marked = found.total(lambda each: each.unlogged)
    orphans = found.total(lambda each: each.orphans)
    rows = {
        "done": ", ".join(f"{count} × {name}" for name, count in sorted(found.deeds.items())),
        "network": found.network,
        "a new learner, seconds": f"median {np.median(takeovers):.2f}, longest {max(takeovers):.2f}",
        "lists answered": f"{len(waits):,}; median {p50:.1f} ms, p99 {p99:.0f} ms",
        "of these marked as perhaps not in the log": f"{marked:,}; {found.kept:,} are there",
        "not marked and not in the log": f"{found.missing:,}",
        "in the log otherwise than answered": f"{found.altered:,}",
        "made again, to the bit": f"{found.replayed - found.unlike:,} of {found.replayed:,}",
        "events acknowledged": f"{found.total(lambda each: each.acknowledged):,}",
        "lost, or there twice": f"{found.lost:,}, {found.twice:,}",
        "clicks that found no list": f"{orphans:,}; on lists without a mark {found.orphans:,}",
        "refused or not answered": ", ".join(f"{count} × {name}" for name, count in refused.most_common()),
        "asked for by operators": ", ".join(f"{count} × {name}" for name, count in found.asked.most_common()),
        "refused to them": ", ".join(f"{count} × {name}" for name, count in found.denied.most_common()),
        "the log's time against the clock": f"{found.skew:.2f} s",
        "models (replicas, from a snapshot, from nothing)": ", ".join(
            f"{each.digest[:8]} of {each.lists:,} lists" for each in found.known
        ),
        "seconds": f"{found.seconds:.0f}",
    }
    for name, value in rows.items():
        shown.add_row(name, value)
    return shown


if __name__ == "__main__":
    sys.exit(main())
