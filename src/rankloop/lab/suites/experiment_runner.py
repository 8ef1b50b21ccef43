"""Run an experiment: make its sweep, compute its table or draw its picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, cast

import altair as alt
import numpy as np
import polars as pl

from rankloop.errors import SettingError
from rankloop.lab.data import Dataset, FeatureGroups, concatenate, load
from rankloop.lab.suites.paper_items import Experiment, find_items
from rankloop.lab.sweeps.engines import Engine, Pool
from rankloop.lab.sweeps.results_folder import write_whole
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_spec import read_sweep
from rankloop.naming import split_names

WORLD = "nonlinear"  # of experiments that name no data
QUICK_SEEDS = 2
SHOWN = ("figure", "table")  # kinds of items that show what an experiment measures


def make_sweep(
    experiment: Experiment,
    *,
    data: Sequence[str | Dataset] = (),
    rounds: int | None = None,
    seeds: int | None = None,
    quick: bool = False,
    groups: FeatureGroups | None = None,
) -> Sweep:
    """Make the sweep of an experiment, on other data, in other groups or of another size if wanted.

    >>> from rankloop.lab.suites import find_experiment
    >>> sweep = make_sweep(find_experiment("pairrank/fig3"), data=["linear"], quick=True)
    >>> sweep.protocol.rounds, len(sweep.seeds), len(sweep.users)
    (200, 2, 3)
    """
    if quick:
        rounds, seeds = rounds or experiment.quick_rounds, seeds or QUICK_SEEDS
    spec = {
        "data": data or experiment.data or (WORLD,),
        "users": _by_name(experiment.users),
        "policies": _by_name(experiment.policies),
        "probes": _by_name(experiment.probes),
        "seeds": range(seeds or experiment.seeds),
        "rounds": rounds or experiment.rounds,
        **{name: getattr(experiment, name) for name in ("k", "checkpoints", "measures", "main_metrics")},
        **{name: getattr(experiment, name) for name in ("compare_with", "judges", "train_queries")},
        "groups": experiment.groups if data else experiment.own_groups,
    }
    sweep = read_sweep(spec)
    return replace(sweep, groups=groups) if groups else sweep


def compute_table(
    experiment: Experiment, *, data: str = "", quick: bool = False, engine: Engine | None = None
) -> Mapping[str, pl.DataFrame]:
    """Compute the parts of a table, each with its name.

    A function of a table takes what it needs: `data`, the name of one dataset, or `datasets`, the names of
    several; `quick`, for a small version; `engine`, if it fits models that an engine may fit elsewhere. A
    number of processes of this machine is no more than leave to use them.

    >>> from rankloop.lab.suites import find_experiment
    >>> list(compute_table(find_experiment("topk/table3.1")))
    ['losses', 'feedback']
    """
    function = _find_function(experiment.table)
    takes = signature(function).parameters
    if data and not experiment.data:
        raise SettingError(f"{experiment.id} is computed from its definition alone, found data {data!r}")
    if engine is not None and "engine" not in takes and not isinstance(engine, Pool):
        raise SettingError(f"{experiment.id} is computed in one process: leave --engine out")
    given = {
        "data": data or ",".join(experiment.data),
        "datasets": split_names(data) or experiment.data,
        "quick": quick,
        **({} if engine is None else {"engine": engine}),
    }
    parts: Mapping[str, pl.DataFrame] = function(**{key: given[key] for key in given if key in takes})
    return parts


def write_parts(parts: Mapping[str, pl.DataFrame], folder: Path, name: str) -> list[Path]:
    """Write the parts of a table as CSV files."""
    paths = {part: folder / f"{name} {part}.csv".replace("/", "-").replace(" ", "-") for part in parts}
    for part, path in paths.items():
        write_whole(path, partial(Path.write_bytes, data=parts[part].write_csv().encode()))
    return list(paths.values())


def draw_picture(experiment: Experiment, *, data: str = "") -> alt.TopLevelMixin:
    """Draw the picture of all queries of a dataset, those for training and the others."""
    dataset = load(data or experiment.data[0])
    queries = concatenate(*dataset.parts)
    return cast("alt.TopLevelMixin", _find_function(experiment.picture)(queries, np.random.default_rng(0)))


def describe_claims(experiment: Experiment) -> dict[str, str]:
    """Say what the documents show of what an experiment measures, and what else to know about it.

    >>> from rankloop.lab.suites import find_experiment
    >>> next(iter(describe_claims(find_experiment("pairrank/fig3"))))
    'figure 3, WWW 2021'
    """
    claims = {
        f"{item.key}, {document.where} {document.year}": item.says
        for document, item in find_items(experiment)
        if item.kind in SHOWN
    }
    return claims | {f"note {number}": note for number, note in enumerate(experiment.notes, 1)}


def _by_name(texts: Iterable[str]) -> dict[str, str]:
    return {text: text for text in texts}


def _find_function(reference: str) -> Callable[..., Any]:
    module, _, name = reference.partition(":")
    return cast("Callable[..., Any]", getattr(import_module(module), name))
