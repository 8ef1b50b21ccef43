"""Comparison of recommenders on held-out reviews: both protocols, seeds, paired tests, and statements."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from rankloop.lab.analysis.paired_tests import correct_holm, paired_p_value
from rankloop.lab.data.review_data import Parts
from rankloop.lab.sweeps.engines import Engine, Given, InProcess
from rankloop.recommend import Recommender, rank_held_out
from rankloop.types import FloatArray

CUTOFFS = (10, 20, 50, 100)
RELEASED = (10, 50)
HERE: Final = InProcess()


@dataclass(frozen=True, slots=True)
class Fit:
    """A recommender that is to be fitted once, and the cutoffs at which it is measured."""

    model: Recommender
    seed: int
    ks: tuple[int, ...]

    @property
    def needs(self) -> str:
        """What an engine loads for it: the same reviews for all."""
        return "reviews"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What the users of the test reviews got from a recommender, in one fit or averaged over several."""

    plain: Mapping[int, FloatArray]  # A@k, [n_users]
    released: Mapping[int, FloatArray]  # C2@k, [n_users], NaN where it is not defined

    def mean(self, k: int) -> float:
        """Return A@k of all users."""
        return float(self.plain[k].mean())

    def released_mean(self, k: int) -> float:
        """Return C2@k of the users that count there."""
        known = self.released[k][~np.isnan(self.released[k])]
        return float(known.mean()) if len(known) else float("nan")


def fit_and_measure(fit: Fit, parts: Parts) -> Generator[Fit, None, Measured]:
    """Fit, say so, and recommend to everyone with a test review: a job of an engine."""
    model = fit.model.fit(parts.train, np.random.default_rng(fit.seed))
    yield fit
    lists = rank_held_out(model, parts.test, known=[parts.train, parts.validation])
    return Measured(
        {k: lists.ndcg(k) for k in sorted({*fit.ks, *RELEASED})},
        {k: lists.released_ndcg(k) for k in RELEASED},
    )


def average_fits(fits: Sequence[Measured]) -> Measured:
    """Average over fits what each user got; by the other protocol, all of them together."""
    return Measured(
        {k: np.mean([each.plain[k] for each in fits], axis=0) for k in fits[0].plain},
        {k: np.concatenate([each.released[k] for each in fits]) for k in RELEASED},
    )


def measure(
    models: Sequence[Recommender],
    parts: Parts,
    *,
    seeds: int = 1,
    ks: Sequence[int] = CUTOFFS,
    engine: Engine = HERE,
) -> list[Measured]:
    """Fit each model with each seed, recommend to everyone with a test review, and average over seeds."""
    jobs = [Fit(model, seed, tuple(ks)) for model in models for seed in range(seeds)]
    done = dict(engine.map(fit_and_measure, jobs, load=Given(parts)))
    fits = [done[number] for number in range(len(jobs))]
    return [average_fits(fits[start : start + seeds]) for start in range(0, len(fits), seeds)]


def compare_recommenders(
    parts: Parts, models: Mapping[str, Recommender], *, seeds: int = 3, engine: Engine = HERE
) -> tuple[pl.DataFrame, dict[str, Measured]]:
    """Make a table with a line for every model, the best by A@50 first, and what was measured.

    `p` is the paired t-test of A@50 over users against the best, corrected by Holm. The fits are done by an
    engine; the table is the same by any.
    """
    measured = measure(list(models.values()), parts, seeds=seeds, engine=engine)
    found = dict(zip(models, measured, strict=True))
    order = sorted(found, key=lambda name: -found[name].mean(50))
    p_values = correct_holm(np.array([p_value(found[name], found[order[0]]) for name in order[1:]]))
    rows = [
        {
            "model": name,
            **{f"A@{k}": round(found[name].mean(k), 4) for k in CUTOFFS},
            **{f"C2@{k}": round(found[name].released_mean(k), 4) for k in RELEASED},
            "p": None if rank == 0 else float(p_values[rank - 1]),
        }
        for rank, name in enumerate(order)
    ]
    return pl.DataFrame(rows, infer_schema_length=None), found


def p_value(first: Measured, second: Measured, k: int = 50) -> float:
    """Return the p-value of a paired t-test over users of A@k."""
    ours, theirs = (
        {("", user): float(value) for user, value in enumerate(each.plain[k])} for each in (first, second)
    )
    found = paired_p_value(ours, theirs)
    return 1.0 if found is None else found


def statements(found: Mapping[str, Measured], claims: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Test claims that one model is better than another, each with what both protocols say.

    By A it holds if the mean is higher with p < .05, and is open if the difference is not significant.
    """
    rows = []
    for better, worse in claims:
        ours, theirs = found[better], found[worse]
        chance = p_value(ours, theirs)
        ahead = ours.mean(50) > theirs.mean(50)
        rows.append(
            {
                "statement": f"{better} is better than {worse}",
                "by A@50": ("holds" if ahead else "does not hold") if chance < 0.05 else "open",
                "A@50": f"{ours.mean(50):.4f} and {theirs.mean(50):.4f}",
                "p": chance,
                "by C2@50": "holds" if ours.released_mean(50) > theirs.released_mean(50) else "does not hold",
                "C2@50": f"{ours.released_mean(50):.4f} and {theirs.released_mean(50):.4f}",
            }
        )
    return pl.DataFrame(rows)


def statistics_of(parts: Parts) -> pl.DataFrame:
    """Count users, items, features, words and reviews, and the reviews of each part."""
    three = {"train": parts.train, "validation": parts.validation, "test": parts.test}
    users, items = (
        np.concatenate([getattr(each, kind) for each in three.values()]) for kind in ("user", "item")
    )
    rows = [
        ("users", len(np.unique(users))),
        ("items", len(np.unique(items))),
        ("features", len(parts.train.features)),
        ("opinion words", len(parts.train.words)),
        ("title words", len(parts.train.tokens)),
        ("reviews", sum(map(len, three.values()))),
        *((f"reviews, {name}", len(part)) for name, part in three.items()),
        ("mentions", sum(len(part.mentions) for part in three.values())),
        ("test items never reviewed in training", len(set(parts.test.item) - set(parts.train.item))),
    ]
    return pl.DataFrame(rows, schema=["what", "count"], orient="row")
