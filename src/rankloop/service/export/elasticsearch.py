"""Elasticsearch and OpenSearch LTR: a feature set, and a `model/linear` with standard normalisers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankloop.errors import DataError
from rankloop.service.export.by_document import ShiftedFeature, shifted_features
from rankloop.service.export.portable_model import PortableModel
from rankloop.types import FloatArray

SCRIPT = (
    "double v = doc[params.field].size() == 0 ? params.missing : doc[params.field].value; "
    "return Math.min(Math.max(v, params.low), params.high) - params.low;"
)
"""Painless; scores of a query may not be negative, and this is not."""


def files(model: PortableModel) -> dict[str, bytes]:
    """`featureset.json` and `model.json`, the bodies of two requests."""
    found, name = shifted_features(model, "Elasticsearch"), _name(model)
    features = {"featureset": {"name": name, "features": [_feature(each) for each in found]}}
    linear = {
        "type": "model/linear",
        "definition": json.dumps({each.name: each.weight for each in found}),
        "feature_normalizers": {
            each.name: {"standard": {"mean": each.origin, "standard_deviation": each.deviation}}
            for each in found
        },
    }
    body = {"model": {"name": f"{name}-{model.version}", "model": linear}}
    return {"featureset.json": _written(features), "model.json": _written(body)}


def score(files: Mapping[str, bytes], names: Sequence[str], raw: FloatArray) -> FloatArray:
    r"""Scores by the plugin's semantics, in single precision as there: $\sum_f w_f\, n_f(x_f)$.

    `standard` is $(x - \text{mean}) / \text{standard\_deviation}$, `min_max` $(x - \text{minimum}) /
    (\text{maximum} - \text{minimum})$: Elasticsearch Learning to Rank, "Uploading a trained model", section
    on feature normalisation, and its classes `StandardFeatureNormalizer`, `MinMaxFeatureNormalizer` and
    `LinearRanker`; the fork of OpenSearch has the same.
    """
    features = json.loads(files["featureset.json"])["featureset"]["features"]
    linear = json.loads(files["model.json"])["model"]["model"]
    weights, total = json.loads(linear["definition"]), np.zeros(len(raw), np.float32)
    for feature in features:
        name = feature["name"]
        value = _computed(feature, raw[:, list(names).index(name)]).astype(np.float32)
        total += np.float32(weights[name]) * _normalised(linear["feature_normalizers"].get(name, {}), value)
    return total.astype(np.float64)


def _feature(each: ShiftedFeature) -> dict[str, Any]:
    params = {"field": each.name, "missing": each.mean, "low": each.low, "high": each.high}
    script = {"source": SCRIPT, "params": params}
    query = {"script_score": {"query": {"match_all": {}}, "script": script}}
    return {"name": each.name, "params": [], "template_language": "mustache", "template": query}


def _computed(feature: Mapping[str, Any], column: FloatArray) -> FloatArray:
    script = feature["template"]["script_score"]["script"]
    if script["source"] != SCRIPT:
        raise DataError(f"feature {feature['name']!r} has a script that is not ours: it cannot be checked")
    given = script["params"]
    value = np.where(np.isnan(column), given["missing"], column)
    return np.asarray(np.clip(value, given["low"], given["high"]) - given["low"])


def _normalised(normaliser: Mapping[str, Any], value: FloatArray) -> FloatArray:
    if found := normaliser.get("standard"):
        return np.asarray((value - np.float32(found["mean"])) / np.float32(found["standard_deviation"]))
    if found := normaliser.get("min_max"):
        least, most = np.float32(found["minimum"]), np.float32(found["maximum"])
        return np.asarray((value - least) / (most - least))
    return value


def _name(model: PortableModel) -> str:
    return f"rankloop-{model.ranker}"


def _written(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, indent=1).encode() + b"\n"
