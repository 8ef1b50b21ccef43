"""Data: LETOR files through a cache, explicit preparation, synthetic worlds, and names of datasets."""

from rankloop.lab.data.best_feature_order import add_caller_order
from rankloop.lab.data.dataset import Dataset, prepare
from rankloop.lab.data.dataset_names import Entry, change_name, list_datasets, list_folds, load
from rankloop.lab.data.dataset_summary import QuerySetSummary, effective_rank, summarise_queries
from rankloop.lab.data.feature_groups import FeatureGroups, parse_groups
from rankloop.lab.data.labelled_rows import Labelled, make_visitors, read_labelled
from rankloop.lab.data.letor_cache import cache_folder, hash_file, read_cached
from rankloop.lab.data.letor_reader import read_letor
from rankloop.lab.data.preparation import drop_constant_features, normalise_per_query, scale_to_unit_length
from rankloop.lab.data.query_set_slices import concatenate, pad_features, take_queries
from rankloop.lab.data.synthetic import WORLDS, make_dataset
from rankloop.lab.data.trec_files import (
    Qrels,
    TrecRun,
    format_qrels,
    format_run,
    read_qrels,
    read_run,
    sort_run,
)

__all__ = [
    "WORLDS",
    "Dataset",
    "Entry",
    "FeatureGroups",
    "Labelled",
    "Qrels",
    "QuerySetSummary",
    "TrecRun",
    "add_caller_order",
    "cache_folder",
    "change_name",
    "concatenate",
    "drop_constant_features",
    "effective_rank",
    "format_qrels",
    "format_run",
    "hash_file",
    "list_datasets",
    "list_folds",
    "load",
    "make_dataset",
    "make_visitors",
    "normalise_per_query",
    "pad_features",
    "parse_groups",
    "prepare",
    "read_cached",
    "read_labelled",
    "read_letor",
    "read_qrels",
    "read_run",
    "scale_to_unit_length",
    "sort_run",
    "summarise_queries",
    "take_queries",
]
