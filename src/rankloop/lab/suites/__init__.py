"""Experiments of the lab and the items of the documents that they repeat."""

from rankloop.lab.suites.paper_items import (
    DOCUMENTS,
    EXPERIMENTS,
    VERDICTS,
    Experiment,
    PaperDocument,
    PaperItem,
    find_experiment,
    find_items,
)

__all__ = [
    "DOCUMENTS",
    "EXPERIMENTS",
    "VERDICTS",
    "Experiment",
    "PaperDocument",
    "PaperItem",
    "find_experiment",
    "find_items",
]
