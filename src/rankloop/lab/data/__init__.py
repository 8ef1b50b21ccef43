"""Data: LETOR files through a cache, explicit preparation, synthetic worlds, and a catalogue of names."""

from rankloop.lab.data.ads import Ads
from rankloop.lab.data.dataset import Dataset, prepare
from rankloop.lab.data.dataset_names import Entry, available, expand, load
from rankloop.lab.data.dataset_summary import Description, describe, effective_rank
from rankloop.lab.data.feature_groups import FeatureGroups, parse_groups
from rankloop.lab.data.items import Items
from rankloop.lab.data.labelled import Labelled, read_labelled, visitors
from rankloop.lab.data.labelled_rows import Bandit
from rankloop.lab.data.letor_cache import cache_folder, hash_file, read_cached
from rankloop.lab.data.letor_reader import read_letor
from rankloop.lab.data.linear import Linear
from rankloop.lab.data.preparation import drop_constant_features, normalise_per_query, scale_to_unit_length
from rankloop.lab.data.query_set_slices import concatenate, pad_features, take_queries
from rankloop.lab.data.synthetic import WORLDS, world
from rankloop.lab.data.synthetic_web_search import Independent, Nonlinear
from rankloop.lab.data.synthetic_worlds import Separable
from rankloop.lab.data.trec_files import Qrels, TrecRun, qrels_text, ranked, read_qrels, read_run, run_text
from rankloop.lab.data.world import World

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
    "hash_file",
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
    "scale_to_unit_length",
    "take_queries",
    "visitors",
    "world",
]
