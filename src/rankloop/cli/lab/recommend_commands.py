"""rankloop recommend: fit a recommender, compare several, say why, interview a newcomer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.lab.engine import EngineName, Workers, mapper
from rankloop.errors import SettingError
from rankloop.lab.data.review_data import load_reviews
from rankloop.lab.recommendation import compare_recommenders
from rankloop.lab.sweeps.engines import Here
from rankloop.recommend import Catalogue, Recommender, Saved, Taste, best_items, load, recommender, save
from rankloop.recommend.feature_ranker import FeatureRanker
from rankloop.recommend.interview import NUMBERS, next_question
from rankloop.recommend.item_explanations import explanation

recommend_app = typer.Typer(help="Recommendations from reviews, with their reasons.", no_args_is_help=True)
Data = Annotated[
    str, typer.Option(help="`synthetic:shop`, `phones`, `phones-fact`, `music`, or a CSV or JSON lines file.")
]
Model = Annotated[Path, typer.Option(help="A file written by `rankloop recommend fit`.")]
Length = Annotated[int, typer.Option(min=1, help="How many items to recommend.")]


@recommend_app.command()
def fit(
    model: Annotated[str, typer.Option(help="A recommender, with settings after a colon.")] = "fact",
    data: Data = "synthetic:shop",
    out: Annotated[Path, typer.Option(help="Where the file goes.")] = Path("recommender.npz"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    everything: Annotated[
        bool, typer.Option("--everything", help="Learn from all reviews, also those held out for measuring.")
    ] = False,
    features: Annotated[
        bool, typer.Option("--features", help="Learn, too, which features to name; this takes longer.")
    ] = False,
) -> None:
    """Learn from reviews, and write a file.

    For example:

    `rankloop recommend fit --model fact:rho=0.3 --data reviews.csv --out shop.npz --everything`
    """
    chosen, reviews = recommender(model), load_reviews(data, everything=everything).train
    with CONSOLE.status(f"fitting {model}"):
        fitted = chosen.fit(reviews, np.random.default_rng(seed))
        ranker = FeatureRanker.fit(reviews, np.random.default_rng(seed)) if features else None
    digest = save(out, fitted, Catalogue.of(reviews), features=ranker)
    CONSOLE.print(
        f"{model}: learned from {len(reviews):,} reviews by {reviews.n_users:,} users "
        f"of {reviews.n_items:,} items\nfile     {out}\ndigest   {digest}",
        soft_wrap=True,
    )


@recommend_app.command()
def compare(
    models: Annotated[
        str, typer.Option(help="Recommenders, separated by blanks, with settings after a colon.")
    ] = "most-popular ials evidence-als fact",
    data: Data = "synthetic:shop",
    seeds: Annotated[int, typer.Option(min=1, help="Fits of every recommender.")] = 3,
    workers: Workers = None,
    engine: EngineName = "pool",
) -> None:
    """Compare recommenders on held-out reviews: plain nDCG (A@k), and beside it that of released code (C2@k).

    For example:

    `rankloop recommend compare --models "most-popular fact fact:rho=inf" --data phones`

    `rankloop recommend compare --data phones --engine ray:auto`
    """
    chosen = {text: recommender(text) for text in models.split()}
    if not chosen:
        raise SettingError("name at least one recommender, such as fact")
    with CONSOLE.status("comparing"):
        by = mapper(engine, workers) or Here()
        found, _ = compare_recommenders(load_reviews(data), chosen, seeds=seeds, engine=by)
    table = Table(
        *found.columns, title=f"{data}, {seeds} seeds", title_justify="left", box=None, pad_edge=False
    )
    for row in found.iter_rows():
        table.add_row(
            *("" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row)
        )
    CONSOLE.print(table)
    CONSOLE.print("[dim]p: paired t-test of A@50 over users against the best, Holm-corrected[/]")


@recommend_app.command()
def explain(
    model: Model,
    user: Annotated[str, typer.Option(help="A user who was learned from.")] = "",
    items: Annotated[
        str, typer.Option(help="Or items that a newcomer has, by name, separated by commas.")
    ] = "",
    top: Length = 3,
) -> None:
    """Recommend items to a user, or to a newcomer, and say why.

    For example:

    `rankloop recommend explain --model shop.npz --user "user 3"`
    """
    saved = load(model)
    if bool(user) == bool(items):
        raise SettingError("name a --user, or --items that a newcomer has, and not both")
    row = saved.catalogue.row("users", user) if user else None
    own = [saved.catalogue.row("items", name.strip()) for name in items.split(",") if name.strip()]
    _recommend(saved, saved.model.taste_of(row) if row is not None else saved.model.taste(own), row, top)


@recommend_app.command()
def interview(
    model: Model,
    answers: Annotated[
        str,
        typer.Option(
            help="Answers in advance, separated by commas: much, little or skip; the rest is asked."
        ),
    ] = "",
    top: Length = 3,
) -> None:
    """Ask a newcomer the questions of the tree, and recommend; to skip a question is to stop there.

    For example:

    `rankloop recommend interview --model shop.npz --answers much,little,skip`
    """
    saved, said = load(model), [each.strip() for each in answers.split(",") if each.strip()]
    known: dict[int, int] = {}
    while (question := next_question(saved.model, saved.catalogue, known)) is not None:
        answer = said.pop(0) if said else str(typer.prompt(question.text, default="skip"))
        if answer not in (*NUMBERS, "skip"):
            raise SettingError(f"an answer is much, little or skip, found {answer!r}")
        CONSOLE.print(f"{question.text} [dim]{answer}[/]", soft_wrap=True)
        if answer == "skip":
            break
        known[question.column] = NUMBERS[answer]
        if answer not in question.leads_on:
            break
    _recommend(saved, saved.model.taste(answers=known), None, top)


def _recommend(saved: Saved, taste: Taste, user: int | None, top: int) -> None:
    for position, item in enumerate(_list(saved.model, taste, top), 1):
        reasons = saved.model.reasons(taste, item)
        CONSOLE.print(f"{position}. {saved.catalogue.titles[item]}", soft_wrap=True, markup=False)
        for text in explanation(reasons, taste, saved.catalogue, user=user, features=saved.features):
            CONSOLE.print(f"   {text}", soft_wrap=True, markup=False, highlight=False)
    CONSOLE.print(f"[dim]{saved.model.name}, digest {saved.digest[:12]}[/]")


def _list(model: Recommender, taste: Taste, top: int) -> list[int]:
    scores = np.array(model.score_taste(taste), float)
    scores[taste.items] = -np.inf
    return [int(item) for item in best_items(scores[None], None, top)[0] if item >= 0]
