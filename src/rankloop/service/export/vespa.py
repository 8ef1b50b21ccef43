"""Vespa: a rank profile; by document in its first phase, or over the hits of a list in its global phase."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rankloop.errors import DataError
from rankloop.service.export.portable_model import NotPortable, PortableModel
from rankloop.types import FloatArray

RERANK = 1000  # hits: as many candidates as the service takes, unless its settings say otherwise
LIMITS = (
    "Vespa maps a feature to 0.5 if it is the same for all hits that have it, and the service to 0: lists in "
    "which other hits lack that feature cannot be the same. Send a value for it, or export to onnx"
)


def files(model: PortableModel) -> dict[str, bytes]:
    """`rankloop-<ranker>.profile`: a rank profile, to be put beside the schema or into it."""
    if not model.linear:
        raise NotPortable("a rank profile here is linear, and this model is a network: export it as onnx")
    for each in model.names:
        if not re.fullmatch(r"[A-Za-z_]\w*", each):
            raise NotPortable(
                f"feature {each!r} cannot be the name of a field in Vespa: features need names of letters, "
                "digits and _, not beginning with a digit"
            )
    name = re.sub(r"\W", "_", f"rankloop_{model.ranker}")
    whole = model.scaling == "query" or not model.by_document
    text = _profile(model, name, whole=whole)
    return {f"{name}.profile": text.encode()}


def score(files: Mapping[str, bytes], names: Sequence[str], raw: FloatArray) -> FloatArray:
    r"""Scores by Vespa's semantics of what `files` writes, over the hits of one list, in its first order.

    `isNan`, `min`, `max`, `log` and `if`: reference on ranking expressions. `normalize_linear` maps the least
    of all hits to 0 and the greatest to 1, and all to 0.5 if they are equal; `reciprocal_rank(x, k)` is
    $1 / (k + \text{rank})$: phased ranking, cross-hit normalisation.
    """
    (text,) = (each.decode() for each in files.values())
    functions = dict(re.findall(r"function (\w+)\(\) \{ expression: (.+) \}$", text, re.MULTILINE))
    found = re.search(r"-phase \{\n(?:.*\n)*?\s+expression \{\n(.*?)\n\s+\}\n", text, re.DOTALL)
    if found is None:
        raise DataError("no expression was found in the rank profile")
    hits = {f"attribute({name})": raw[:, column] for column, name in enumerate(names)}
    hits["firstPhase"] = np.arange(len(raw), 0.0, -1.0)  # the list comes in the caller's own order
    return np.broadcast_to(_Evaluator(functions, hits)(found[1]), len(raw)).astype(np.float64)


def _profile(model: PortableModel, name: str, *, whole: bool) -> str:
    order, weights = float(model.weights[0]), model.weights[1:].tolist()
    read = [f"    function rl_{name}() {{ expression: attribute({name}) }}" for name in model.names]
    terms = [_term(model, column, weight) for column, weight in enumerate(weights) if weight]
    if order:
        read.append("    function rl_order() { expression: firstPhase }")
        terms.append(f"{order / math.log(2)!r} * log(reciprocal_rank(rl_order, 1))")
    terms.append(repr(model.constant))
    expression = " +\n            ".join(terms)
    return "\n".join(
        [
            f"# ranker {model.ranker}, version {model.version}: {model.policy}",
            f"rank-profile {name} inherits default {{",
            *read,
            f"    {'global' if whole else 'first'}-phase {{",
            *([f"        rerank-count: {RERANK}"] if whole else []),
            "        expression {",
            f"            {expression}",
            "        }",
            "    }",
            "}",
            "",
        ]
    )


def _term(model: PortableModel, column: int, weight: float) -> str:
    name = f"rl_{model.names[column]}"
    if model.scaling == "query":
        return f"{weight!r} * if(isNan({name}) == 1, 0, normalize_linear({name}))"
    mean, deviation, far = float(model.mean[column]), float(model.deviation[column]), model.farthest
    if not deviation:
        return "0"
    cut = f"max({-far!r}, min({far!r}, ({name} - {mean!r}) / {deviation!r}))"
    return f"{weight!r} * if(isNan({name}) == 1, 0, {cut})"


class _Evaluator:
    """Values of an expression over the hits of a list, [n]."""

    def __init__(self, functions: Mapping[str, str], hits: Mapping[str, FloatArray]) -> None:
        self._functions, self._hits = functions, hits

    def __call__(self, expression: str) -> FloatArray:
        text = " ".join(re.sub(r"\bif\(", "if_(", expression).split())
        return self._value(ast.parse(text, mode="eval").body)

    def _value(self, node: ast.expr) -> FloatArray:
        text = ast.unparse(node)
        if text in self._hits:
            return self._hits[text]
        if isinstance(node, ast.Name) and node.id in self._functions:
            return self(self._functions[node.id])
        if re.fullmatch(r"-?[0-9.e+-]+", text):
            return np.array(float(text))
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](self._value(node.left), self._value(node.right))
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            return np.asarray(self._value(node.left) == self._value(node.comparators[0]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            return FUNCTIONS[node.func.id](*(self._value(each) for each in node.args))
        raise DataError(f"{text} is no ranking expression of ours: it cannot be checked")


def normalize_linear(values: FloatArray) -> FloatArray:
    """Of all hits, the least to 0 and the greatest to 1; 0.5, if they are equal.

    >>> normalize_linear(np.array([1.0, 3.0, np.nan])).tolist(), normalize_linear(np.ones(2)).tolist()
    ([0.0, 1.0, nan], [0.5, 0.5])
    """
    least, most = np.fmin.reduce(values), np.fmax.reduce(values)
    if not most > least:
        return np.where(np.isnan(values), np.nan, 0.5)
    return np.asarray((values - least) / (most - least))


def reciprocal_rank(values: FloatArray, k: FloatArray) -> FloatArray:
    """Of all hits, 1 / (k + rank), the greatest first.

    >>> reciprocal_rank(np.array([5.0, 9.0]), np.array(1.0)).round(3).tolist()
    [0.333, 0.5]
    """
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(1.0, len(values) + 1)
    return np.asarray(1 / (k + ranks))


def _if(condition: FloatArray, then: FloatArray, otherwise: FloatArray) -> FloatArray:
    return np.where(condition, then, otherwise)


OPERATORS: Mapping[type[ast.operator], Callable[[FloatArray, FloatArray], FloatArray]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}
FUNCTIONS: Mapping[str, Callable[..., FloatArray]] = {
    "isNan": lambda value: np.asarray(np.isnan(value) * 1.0),
    "if_": _if,
    "min": np.minimum,
    "max": np.maximum,
    "log": np.log,
    "normalize_linear": normalize_linear,
    "reciprocal_rank": reciprocal_rank,
}
