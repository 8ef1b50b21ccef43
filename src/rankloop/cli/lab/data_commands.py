"""rankloop lab data: look at data, check it, prepare it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.lab.data import effective_rank, list_folds, load, read_letor, summarise_queries

data_app = typer.Typer(help="Describe, check or cache a dataset.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="mq2008(fold=1), a folder, a file, or a world such as linear.")]


@data_app.command()
def info(name: Name) -> None:
    """Say what is in a dataset.

    Example: `rankloop lab data info nonlinear`
    """
    for fold in list_folds(name):
        with CONSOLE.status(f"reading {fold}"):
            dataset, prepared = load(fold, prepared=False), load(fold)
        table = Table("", "train", *(["vali"] if dataset.vali else []), "test", title=fold)
        parts = [dataset.train, *([dataset.vali] if dataset.vali else []), dataset.test]
        facts = [summarise_queries(part) for part in parts]
        table.add_row("queries", *(f"{fact.queries:,}" for fact in facts))
        table.add_row(
            "  without a relevant document", *(f"{fact.queries_without_relevant:,}" for fact in facts)
        )
        table.add_row("documents", *(f"{fact.documents:,}" for fact in facts))
        table.add_row(
            "  in a query: fewest, median, most",
            *(f"{fact.fewest_documents}, {fact.median_documents:g}, {fact.most_documents}" for fact in facts),
        )
        table.add_row("features", *(f"{fact.features:,}" for fact in facts))
        table.add_row("  constant", *(f"{fact.constant_features:,}" for fact in facts))
        table.add_row(
            "grades, %", *(" ".join(f"{share:.1%}"[:-1] for share in fact.grade_shares) for fact in facts)
        )
        table.add_row("memory, MB", *(f"{fact.megabytes:,.1f}" for fact in facts))
        CONSOLE.print(table)
        CONSOLE.print(
            f"as experiments see it: {prepared.train.n_features} features, in which documents of a query "
            f"differ like in {effective_rank(prepared.train):.1f} independent ones\n",
            soft_wrap=True,
        )


@data_app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="LETOR files: plain, .gz or .xz.")],
    features: Annotated[int | None, typer.Option(help="How many features there must be at most.")] = None,
) -> None:
    """Read files from beginning to end and report the first mistake in each.

    Example: `rankloop lab data check Fold1/train.txt Fold1/test.txt`
    """
    for file in files:
        with CONSOLE.status(f"reading {file}"):
            facts = summarise_queries(read_letor(file, n_features=features))
        CONSOLE.print(
            f"{file}: {facts.queries:,} queries, {facts.documents:,} documents, {facts.features} features, "
            f"{len(facts.grade_shares)} grades: good",
            soft_wrap=True,
        )


@data_app.command(name="prepare")
def prepare_(name: Name) -> None:
    """Read a dataset into the cache, so that every later use of it is instant.

    Example: `rankloop lab data prepare mq2008`
    """
    for fold in list_folds(name):
        with CONSOLE.status(f"reading {fold}"):
            dataset = load(fold)
        CONSOLE.print(
            f"{fold}: {len(dataset.train):,} training and {len(dataset.test):,} test queries, "
            f"{dataset.train.n_features} features: ready",
            soft_wrap=True,
        )
