"""Formats of exported models, by name: what each writes, and how it is read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rankloop.service.export import elasticsearch
from rankloop.service.export import onnx_graph as onnx
from rankloop.service.export.portable_model import PortableModel
from rankloop.types import FloatArray

Files: TypeAlias = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: `files` of a model by name, and `score`, which reads them by their own semantics."""

    name: str
    files: Callable[[PortableModel], dict[str, bytes]]
    score: Callable[[Files, Sequence[str], FloatArray], FloatArray]


def _json_files(model: PortableModel) -> dict[str, bytes]:
    return {"model.json": json.dumps(model.to_json(), indent=1).encode()}


def _json_score(files: Files, names: Sequence[str], raw: FloatArray) -> FloatArray:
    del names
    return PortableModel.from_json(json.loads(files["model.json"])).score(raw)


FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (
        Format("elasticsearch", elasticsearch.files, elasticsearch.score),
        Format("opensearch", elasticsearch.files, elasticsearch.score),
        Format("onnx", onnx.files, onnx.score),
        Format("json", _json_files, _json_score),
    )
}
