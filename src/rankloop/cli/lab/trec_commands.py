"""rankloop lab trec: runs and qrels in the form of trec_eval, out and in."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.lab.sweep_progress import SweepProgress
from rankloop.cli.own_policies import read_any_policy
from rankloop.errors import SettingError
from rankloop.lab.analysis.query_counts import describe_counts
from rankloop.lab.data import Qrels, format_qrels, format_run, read_qrels, read_run, sort_run
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import write_whole
from rankloop.lab.sweeps.sweep import Cell, Sweep
from rankloop.lab.sweeps.sweep_cells import Progress, simulate_cell
from rankloop.lab.users import read_user
from rankloop.metrics import Metric, mean_over_lists, read_metric
from rankloop.naming import split_names
from rankloop.policy import score_all

trec_app = typer.Typer(no_args_is_help=True, help="Write or evaluate TREC files.")


@trec_app.command()
def write(
    data: Annotated[str, typer.Option(help="Datasets, comma-separated; see `rankloop lab list`.")],
    policies: Annotated[str, typer.Option(help="Policies, comma-separated, with settings after a colon.")],
    user: Annotated[str, typer.Option(help="Who clicks while they learn.")] = "perfect",
    rounds: Annotated[int, typer.Option(min=1, help="Queries asked while they learn.")] = 2000,
    k: Annotated[int, typer.Option(min=1, help="Results shown while they learn.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of queries, user and policy.")] = 0,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Documents written for a query (default: all).")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the files.")] = Path("trec"),
) -> None:
    """Let policies learn, and write how they rank the test queries: a run file each, and the qrels.

    For example:

    `rankloop lab trec write --data "mq2008(fold=1)" --policies pairrank,pdgd --rounds 1000 --out trec`

    `trec_eval -m map trec/mq2008-fold=1.qrels trec/mq2008-fold=1.pairrank.run`

    Documents have their ids or, where data has none, the query's id and their number in it, from 1.
    """
    sweep = Sweep(
        data=split_names(data),
        users={user: read_user(user)},
        policies={name: read_any_policy(name) for name in split_names(policies)},
        seeds=[seed],
        protocol=Protocol(rounds=rounds, k=k),
    )
    cells = sweep.cells()
    with SweepProgress(CONSOLE, runs=len(cells), rounds=rounds) as progress:
        files = [file for cell in cells for file in _written(sweep, cell, progress, out, depth)]
    CONSOLE.print("\n".join(map(str, dict.fromkeys(files))), soft_wrap=True, highlight=False)


@trec_app.command()
def evaluate(
    qrels: Annotated[Path, typer.Argument(help="Judgements: `<query> <iteration> <document> <grade>`.")],
    runs: Annotated[list[Path], typer.Argument(help="Cells: `<query> Q0 <document> <rank> <score> <tag>`.")],
    metrics: Annotated[
        str, typer.Option(help="Metrics, comma-separated; see `rankloop lab list`.")
    ] = "nDCG@10,AP,MRR,Precision@10",
    without_relevant: Annotated[
        str, typer.Option(help="What a query without a relevant document counts: *zero*, *one* or *skip*.")
    ] = "zero",
) -> None:
    """Grade runs by judgements, as trec_eval does.

    For example:

    `rankloop lab trec evaluate qrels.txt bm25.run mine.run`

    `rankloop lab trec evaluate trec/mq2008-fold=1.qrels trec/*.run --metrics "nDCG@5,AP(relevant_from=2)"`

    Documents are sorted by their score; a query that a run lacks counts 0 (trec_eval's option -c), and what
    nobody judged is not relevant. Gains of nDCG are 2^grade - 1; those of trec_eval are the grades.
    """
    if without_relevant not in ("zero", "one", "skip"):
        raise SettingError(f"--without-relevant must be zero, one or skip, found {without_relevant}")
    chosen = [read_metric(name) for name in metrics.split(",") if name.strip()]
    if not chosen:
        raise SettingError("--metrics must name at least one, found none: as in nDCG@10,AP")
    judged = read_qrels(qrels)
    table = Table("run", *map(str, chosen), "queries found")
    for column in table.columns[1:]:
        column.justify = "right"
    for run in runs:
        table.add_row(run.name, *_graded(judged, run, chosen, without_relevant))
    CONSOLE.print(table)
    counted = sum(any(grade > 0 for grade in each.values()) for each in judged.values())
    CONSOLE.print(describe_counts({str(qrels): (counted if without_relevant == "skip" else len(judged),)}))


def _written(
    sweep: Sweep, cell: Cell, progress: SweepProgress, out: Path, depth: int | None
) -> tuple[Path, Path]:
    """Write the qrels and the run of a policy, after it has learned."""
    dataset = sweep.dataset(cell.fold)
    policy = sweep.policy_of(cell, dataset)
    for record in simulate_cell(sweep, cell, dataset, policy):
        progress(Progress(cell, record.round, record))
    fold, tag = _slug(cell.fold), _slug(cell.policy)
    texts = {
        out / f"{fold}.qrels": format_qrels(dataset.test),
        out / f"{fold}.{tag}.run": format_run(
            dataset.test, score_all(policy, dataset.test), tag=tag, depth=depth
        ),
    }
    for path, text in texts.items():
        write_whole(path, partial(Path.write_bytes, data=text.encode()))
    qrels, found = texts
    return qrels, found


def _graded(qrels: Qrels, path: Path, metrics: list[Metric], without_relevant: str) -> list[str]:
    run = read_run(path)
    lists = [sort_run(grades, run.get(query, {})) for query, grades in qrels.items()]
    means = [mean_over_lists(metric, lists, without_relevant=without_relevant) for metric in metrics]  # type: ignore[arg-type]
    return [*(f"{mean:.4f}" for mean in means), f"{len(run.keys() & qrels.keys())} of {len(qrels)}"]


def _slug(name: str) -> str:
    """Make a name for files and tags.

    >>> _slug("IPSRankNet(examination=(1.0, 0.5))")
    'IPSRankNet-examination=-1.0-0.5'
    """
    return re.sub(r"[^A-Za-z0-9._=@]+", "-", name).strip("-")
