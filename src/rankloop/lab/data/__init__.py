"""Data: LETOR files through a cache, explicit preparation, synthetic worlds, and a catalogue of names."""

from rankloop.data.ads import Ads
from rankloop.data.bandit import Bandit
from rankloop.data.cache import cache_folder, file_digest, read_cached
from rankloop.data.catalogue import Entry, available, expand, load
from rankloop.data.dataset import Dataset, prepare
from rankloop.data.describe import Description, describe, effective_rank
from rankloop.data.groups import FeatureGroups, parse_groups
from rankloop.data.items import Items
from rankloop.data.labelled import Labelled, read_labelled, visitors
from rankloop.data.linear import Linear
from rankloop.data.nonlinear import Independent, Nonlinear
from rankloop.data.prepare import (
    concatenate,
    drop_constant_features,
    normalise_per_query,
    pad_features,
    unit_length,
)
from rankloop.data.reader import read_letor
from rankloop.data.separable import Separable
from rankloop.data.synthetic import WORLDS, world
from rankloop.data.trec import Qrels, TrecRun, qrels_text, ranked, read_qrels, read_run, run_text
from rankloop.data.world import World

__all__ = [
    "WORLDS",
    "Ads",
    "Bandit",
    "Dataset",
    "Description",
    "Entry",
    "FeatureGroups",
    "Independent",
    "Items",
    "Labelled",
    "Linear",
    "Nonlinear",
    "Qrels",
    "Separable",
    "TrecRun",
    "World",
    "available",
    "cache_folder",
    "concatenate",
    "describe",
    "drop_constant_features",
    "effective_rank",
    "expand",
    "file_digest",
    "load",
    "normalise_per_query",
    "pad_features",
    "parse_groups",
    "prepare",
    "qrels_text",
    "ranked",
    "read_cached",
    "read_labelled",
    "read_letor",
    "read_qrels",
    "read_run",
    "run_text",
    "unit_length",
    "visitors",
    "world",
]
