"""rankloop lab recommend: fit a recommender, compare several, say why, interview a newcomer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.lab.sweep_options import EngineName, Workers
from rankloop.errors import SettingError
from rankloop.lab.data.review_data import load_reviews
from rankloop.lab.recommenders import RECOMMENDERS, read_recommender
from rankloop.recommend import (
    Catalogue,
    FittedRecommender,
    Recommender,
    UserProfile,
    ask_next,
    explain_items,
    find_top_items,
    load_recommender,
    read_answers,
    save_recommender,
)

SEPARATOR = re.compile(r"\s*,\s*(?![^(]*\))")  # commas outside of parentheses

recommend_app = typer.Typer(
    help="Fit a recommender, explain items, or try its interview.", no_args_is_help=True
)
Data = Annotated[
    str, typer.Option(help="`shop`, `phones`, `phones-fact`, `music`, or a CSV or JSON lines file.")
]
Model = Annotated[Path, typer.Option(help="A file written by `rankloop lab recommend fit`.")]
Length = Annotated[int, typer.Option(min=1, help="How many items to recommend.")]


@recommend_app.command()
def fit(
    model: Annotated[str, typer.Option(help="A recommender, with settings in parentheses.")] = "FacT",
    data: Data = "shop",
    out: Annotated[Path, typer.Option(help="Where the file goes.")] = Path("recommender.npz"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    everything: Annotated[
        bool, typer.Option("--everything", help="Learn from all reviews, also those held out for measuring.")
    ] = False,
) -> None:
    """Learn from reviews, and write a file.

    For example:

    `rankloop lab recommend fit --model 'FacT(leaf_weight=0.3)' --data reviews.csv --out shop.npz`
    """
    chosen, reviews = read_recommender(model), load_reviews(data, everything=everything).train
    with CONSOLE.status(f"fitting {model}"):
        fitted = chosen.fit(reviews, np.random.default_rng(seed))
    digest = save_recommender(out, fitted, Catalogue.of(reviews))
    CONSOLE.print(
        f"{model}: learned from {len(reviews):,} reviews by {reviews.n_users:,} users "
        f"of {reviews.n_items:,} items\nfile     {out}\ndigest   {digest}",
        soft_wrap=True,
    )


def compare(
    models: Annotated[
        str, typer.Option(help="Recommenders, separated by commas, with settings in parentheses.")
    ] = "MostPopular, IALS, EvidenceALS, FacT",
    data: Data = "shop",
    seeds: Annotated[int, typer.Option(min=1, help="Fits of every recommender.")] = 3,
    workers: Workers = None,
    engine: EngineName = "pool",
) -> None:
    """Compare recommenders on held-out reviews.

    The measure is plain nDCG (A@k); beside it stands that of released code (C2@k).

    For example:

    `rankloop lab compare-recommenders --models "MostPopular, FacT, FacT(leaf_weight=inf)" --data phones`

    `rankloop lab compare-recommenders --data phones --engine ray:auto`
    """
    chosen = {text: read_recommender(text) for text in SEPARATOR.split(models.strip()) if text}
    from rankloop.cli.lab.sweep_inputs import make_fit_engine  # noqa: PLC0415  # with the next two, needs the extra lab
    from rankloop.lab.recommendation import compare_recommenders  # noqa: PLC0415
    from rankloop.lab.sweeps.engines import InProcess  # noqa: PLC0415

    if not chosen:
        raise SettingError("name at least one recommender, such as FacT")
    with CONSOLE.status("comparing"):
        by = make_fit_engine(engine, workers) or InProcess()
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

    `rankloop lab recommend explain --model shop.npz --user "user 3"`
    """
    fitted = load_recommender(model, RECOMMENDERS)
    if bool(user) == bool(items):
        raise SettingError("name a --user, or --items that a newcomer has, and not both")
    find_row, names = fitted.catalogue.find_row, [name.strip() for name in items.split(",") if name.strip()]
    if user:
        profile = fitted.model.profile_user(find_row("users", user))
    else:
        profile = fitted.model.profile_newcomer([find_row("items", name) for name in names])
    _recommend(fitted, profile, top)


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
    """Ask a newcomer the questions of the tree, and recommend.

    For example:

    `rankloop lab recommend interview --model shop.npz --answers much,little,skip`
    """
    fitted = load_recommender(model, RECOMMENDERS)
    given = [each.strip() for each in answers.split(",") if each.strip()]
    said: dict[str, str] = {}
    while (question := ask_next(fitted, said).question) is not None:
        answer = given.pop(0) if given else str(typer.prompt(question.text, default="skip"))
        if answer not in question.choices:
            raise SettingError(f"an answer is much, little or skip, found {answer!r}")
        CONSOLE.print(f"{question.text} [dim]{answer}[/]", soft_wrap=True)
        said[question.question] = answer
    _recommend(fitted, fitted.model.profile_newcomer(answers=read_answers(fitted, said)), top)


def _recommend(fitted: FittedRecommender, profile: UserProfile, top: int) -> None:
    items = _choose_items(fitted.model, profile, top)
    for position, explanation in enumerate(explain_items(fitted, profile, items), 1):
        title = fitted.catalogue.titles[explanation.item]
        CONSOLE.print(f"{position}. {title}", soft_wrap=True, markup=False)
        for text in explanation.sentences:
            CONSOLE.print(f"   {text}", soft_wrap=True, markup=False, highlight=False)
    CONSOLE.print(f"[dim]{type(fitted.model).__name__}, digest {fitted.digest[:12]}[/]")


def _choose_items(model: Recommender, profile: UserProfile, top: int) -> list[int]:
    scores = np.array(model.score_profile(profile), float)
    scores[profile.items] = -np.inf
    return [int(item) for item in find_top_items(scores[None], None, top)[0] if item >= 0]
