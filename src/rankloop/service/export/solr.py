"""Solr LTR: a feature store, and a `LinearModel` with standard normalisers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np

from rankloop.errors import DataError
from rankloop.service.export.by_document import ShiftedFeature, shifted_features
from rankloop.service.export.portable_model import NotPortable, PortableModel
from rankloop.types import FloatArray

STANDARD = "org.apache.solr.ltr.norm.StandardNormalizer"
MIN_MAX = "org.apache.solr.ltr.norm.MinMaxNormalizer"
NUMBER = r"([-+0-9.eE]+)"
FUNCTION = re.compile(
    rf"\{{!func\}}sub\(min\(max\(def\(field\((\w+)\),{NUMBER}\),{NUMBER}\),{NUMBER}\),{NUMBER}\)"
)


def files(model: PortableModel) -> dict[str, bytes]:
    """`features.json` for the feature store and `model.json` for the model store."""
    found, store = shifted_features(model, "Solr"), f"rankloop-{model.ranker}"
    for each in found:
        if not re.fullmatch(r"[A-Za-z_]\w*", each.name):
            raise NotPortable(
                f"feature {each.name!r} cannot be the name of a field in a function of Solr: features need "
                "names of letters, digits and _, not beginning with a digit"
            )
    features = [
        {
            "store": store,
            "name": each.name,
            "class": "org.apache.solr.ltr.feature.SolrFeature",
            "params": {"q": _function(each)},
        }
        for each in found
    ]
    linear = {
        "store": store,
        "class": "org.apache.solr.ltr.model.LinearModel",
        "name": f"{store}-{model.version}",
        "features": [{"name": each.name, "norm": _norm(each)} for each in found],
        "params": {"weights": {each.name: each.weight for each in found}},
    }
    return {
        "features.json": json.dumps(features, indent=1).encode() + b"\n",
        "model.json": json.dumps(linear, indent=1).encode() + b"\n",
    }


def score(files: Mapping[str, bytes], names: Sequence[str], raw: FloatArray) -> FloatArray:
    r"""Scores by Solr's semantics, in single precision as there: the dot product of normalised features.

    `StandardNormalizer` is $(x - \text{avg}) / \text{std}$ and `MinMaxNormalizer`
    $(x - \text{min}) / (\text{max} - \text{min})$, by their Javadoc; `def(a,b)` is `b` where a document has
    no `a`, by the Reference Guide on function queries, whose scores are never negative.
    """
    queries = {each["name"]: each["params"]["q"] for each in json.loads(files["features.json"])}
    model, total = json.loads(files["model.json"]), np.zeros(len(raw), np.float32)
    for feature in model["features"]:
        name = feature["name"]
        value = _computed(queries[name], names, raw).astype(np.float32)
        total += np.float32(model["params"]["weights"][name]) * _normalised(feature["norm"], value)
    return total.astype(np.float64)


def _function(each: ShiftedFeature) -> str:
    low, high, mean = repr(each.low), repr(each.high), repr(each.mean)
    return f"{{!func}}sub(min(max(def(field({each.name}),{mean}),{low}),{high}),{low})"


def _norm(each: ShiftedFeature) -> dict[str, object]:
    return {"class": STANDARD, "params": {"avg": repr(each.origin), "std": repr(each.deviation)}}


def _computed(query: str, names: Sequence[str], raw: FloatArray) -> FloatArray:
    found = FUNCTION.fullmatch(query)
    if found is None:
        raise DataError(f"{query} is not a function of ours: it cannot be checked")
    column = raw[:, list(names).index(found[1])]
    missing, low, high, less = (float(each) for each in found.groups()[1:])
    value = np.where(np.isnan(column), missing, column)
    return np.maximum(np.minimum(np.maximum(value, low), high) - less, 0.0)


def _normalised(norm: Mapping[str, object], value: FloatArray) -> FloatArray:
    params = norm["params"]
    assert isinstance(params, Mapping)
    given = {name: np.float32(each) for name, each in params.items()}
    if norm["class"] == STANDARD:
        return np.asarray((value - given["avg"]) / given["std"])
    if norm["class"] == MIN_MAX:
        return np.asarray((value - given["min"]) / (given["max"] - given["min"]))
    raise DataError(f"{norm['class']} is a normaliser that is not known here")
