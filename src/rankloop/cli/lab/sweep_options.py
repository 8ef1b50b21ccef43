"""Options that `compare` and `run` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[
    Path | None, typer.Option(help="Where results go (default: a folder named after the question).")
]
Groups = Annotated[
    str,
    typer.Option(
        help="Two groups of documents, as in `feature=128,threshold=0`: B where the feature, as a share of "
        "its range in the query, is at most the threshold, else A. Features are numbered as in the file, "
        "from 1: 128 is column 127 of a matrix that counts from 0."
    ),
]
CallerOrders = Annotated[
    str,
    typer.Option(
        help="Callers' orders that data comes with, comma-separated: *none*, *decent* (by the best "
        "single feature of the training queries) or *reversed*; "
        '`--data "<name>(caller_order=decent)"` says the same of one.'
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes to use (default: all cores).")]
EngineName = Annotated[
    str,
    typer.Option(
        help="Where runs are done: *pool*, processes of this machine; *ray*, a Ray cluster of this machine; "
        "*ray:address*, another one, as in `ray:10.0.0.5:6379` or `ray:auto`."
    ),
]
