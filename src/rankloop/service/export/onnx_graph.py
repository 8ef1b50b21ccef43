"""ONNX: the whole scoring of a list as one graph, from raw features to scores."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankloop.service.export.portable_model import NotPortable, PortableModel
from rankloop.types import Array, FloatArray

OPSET, IR = 18, 9  # any runtime since 2023
FILE = "model.onnx"


def files(model: PortableModel) -> dict[str, bytes]:
    """`model.onnx`: `features`, double [n, m], NaN where missing, in the caller's order; `scores`, [n].

    Scaling is done in double precision and the network in single precision, as in the service.
    """
    return {FILE: _Graph(model).model.SerializeToString()}


def score(files: Mapping[str, bytes], names: Sequence[str], raw: FloatArray) -> FloatArray:
    """Scores by the standard's own reference evaluator, which comes with the package `onnx`."""
    del names
    _package()
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415

    with np.errstate(invalid="ignore", over="ignore"):  # a feature that nobody has is infinity minus infinity
        (found,) = ReferenceEvaluator(files[FILE]).run(None, {"features": raw.astype(np.float64)})
    return np.asarray(found, np.float64)


def _package() -> Any:
    try:
        import onnx  # noqa: PLC0415
    except ImportError as error:
        raise NotPortable("ONNX needs a package: pip install 'rankloop[onnx]'") from error
    return onnx


class _Graph:
    """A graph that is built node by node."""

    def __init__(self, model: PortableModel) -> None:
        self._onnx = _package()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        seen = self._seen(model)
        scores = self._scores(model, seen)
        self._nodes.append(helper.make_node("Identity", [scores], ["scores"]))
        graph = helper.make_graph(
            self._nodes,
            "rankloop",
            [helper.make_tensor_value_info("features", kinds.DOUBLE, ["n", len(model.names)])],
            [helper.make_tensor_value_info("scores", kinds.FLOAT, ["n"])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        self.model = helper.make_model(graph, opset_imports=opsets, producer_name="rankloop", ir_version=IR)
        said = {"features": json.dumps(model.names), "ranker": model.ranker, "version": str(model.version)}
        helper.set_model_props(self.model, said)
        self._onnx.checker.check_model(self.model)

    def _seen(self, model: PortableModel) -> str:
        """The caller's order and the scaled features, single precision, [n, 1 + m]."""
        scaled = self._within(model) if model.scaling == "query" else self._running(model)
        missing = self._add("IsNaN", "features")
        scaled = self._add("Where", missing, self._double(0.0), scaled)
        n = self._add("Gather", self._add("Shape", "features"), self._constant(np.array(0)))
        n = self._add("Cast", n, to=self._onnx.TensorProto.DOUBLE)
        ranks = self._add(
            "Range", self._double(2.0), self._add("Add", n, self._double(2.0)), self._double(1.0)
        )
        order = self._add("Div", self._add("Log", ranks), self._double(-math.log(2)))
        order = self._add("Unsqueeze", order, self._constant(np.array([1])))
        seen = self._add("Concat", order, scaled, axis=1)
        return self._add("Cast", seen, to=self._onnx.TensorProto.FLOAT)

    def _within(self, model: PortableModel) -> str:
        del model  # this scaling knows nothing
        missing, first = self._add("IsNaN", "features"), self._constant(np.array([0]))
        high = self._add("Where", missing, self._double(math.inf), "features")
        low = self._add("Where", missing, self._double(-math.inf), "features")
        least, most = self._add("ReduceMin", high, first), self._add("ReduceMax", low, first)
        wide = self._add("Greater", most, least)
        span = self._add("Where", wide, self._add("Sub", most, least), self._double(1.0))
        return self._add("Div", self._add("Sub", "features", least), span)

    def _running(self, model: PortableModel) -> str:
        known = model.deviation > 0
        away = self._add("Sub", "features", self._constant(model.mean))
        scaled = self._add("Div", away, self._constant(np.where(known, model.deviation, 1.0)))
        scaled = self._add("Where", self._constant(known), scaled, self._double(0.0))
        return self._add("Clip", scaled, self._double(-model.farthest), self._double(model.farthest))

    def _scores(self, model: PortableModel, seen: str) -> str:
        """The mean of all networks, and what is added to it, [n]."""
        total = ""
        for network in model.networks:
            value = seen
            for number, matrix in enumerate(network):
                value = self._add("Relu", value) if number else value
                value = self._add("MatMul", value, self._constant(matrix.T.astype(np.float32)))
            total = self._add("Add", total, value) if total else value
        mean = self._add("Div", total, self._constant(np.array(len(model.networks), np.float32)))
        direct = np.zeros((1 + len(model.names), 1), np.float32)
        direct[0] = model.skip
        order = self._add("MatMul", seen, self._constant(direct))
        whole = self._add("Add", self._add("Add", mean, order), self._constant(np.float32(model.constant)))
        return self._add("Squeeze", whole, self._constant(np.array([1])))

    def _add(self, kind: str, *given: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(given), [name], **attributes))
        return name

    def _double(self, value: float) -> str:
        return self._constant(np.array(value, np.float64))

    def _constant(self, value: Array | np.float32) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(value), name))
        return name
