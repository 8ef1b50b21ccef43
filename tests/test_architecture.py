"""Imports point one way: the table of layers, enforced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "rankloop"

STAGES = {"data", "users", "metrics", "scorers", "explorers", "interleaving"}
MAY_IMPORT: dict[str, set[str]] = {
    "types": set(),
    "reviews": {"types"},
    **{stage: {"types"} for stage in STAGES},
    "data": {"types", "reviews"},
    "recommend": {"types", "reviews"},
    "portable": {"types"},  # files of other engines know nothing of ours
    "learning": {"types", "scorers", "explorers"},
    "policies": {"types", "learning", "scorers", "explorers", "interleaving"},
    "spelling": {"types", "scorers", "interleaving", "learning", "policies"},
    "checks": {"types", "scorers", "policies", "users"},
    "experiments": {
        "types",
        "reviews",
        "recommend",
        "theory",
        "evaluation",
        "learning",
        "policies",
        "spelling",
        "checks",
        "charts",
        *STAGES,
    },
    "evaluation": {"types", "learning", "policies", "explorers"},
    "theory": {"types"},
    "text": {"types", "data"},
    "store": {"types"},
    "service": {
        *("types", "policies", "spelling", "store", "metrics", "interleaving", "scorers", "explorers"),
        *("recommend", "evaluation", "portable"),
    },
    "client": {"types"},
    "connect": {"types", "service", "client"},  # what others run, joined to the service from outside
    "charts": {"types"},
    "dashboard": {"types", "store", "service", "charts"},  # production never contains the simulator
    "demo": {
        *("types", "reviews", "recommend", "policies", "spelling", "store", "service"),
        *("dashboard", "charts"),
        *STAGES,
    },
    "cli": {
        *(
            "types",
            "reviews",
            "recommend",
            "learning",
            "policies",
            "spelling",
            "checks",
            "experiments",
            "theory",
            "evaluation",
            "text",
            "store",
            "service",
            "client",
            "connect",
            "portable",
            "dashboard",
            "demo",
        ),
        *STAGES,
    },
}


def imports(source: str) -> Iterator[str]:
    """The layers of rankloop that a piece of source imports."""
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("rankloop."))


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


FILES = [
    path for path in sorted(ROOT.rglob("*.py")) if path not in (ROOT / "__init__.py", ROOT / "__main__.py")
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    layer = layer_of(path)
    allowed = MAY_IMPORT[layer] | {layer, "__version__"}
    assert set(imports(path.read_text())) <= allowed


def test_every_layer_has_its_row_in_the_table() -> None:
    assert {layer_of(path) for path in FILES} <= set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from rankloop.data import load", {"data"}),
        ("from rankloop import metrics", {"metrics"}),
        ("import rankloop.users.cascade", {"users"}),
        ("def late():\n    from rankloop.data import load", {"data"}),
        ("import numpy", set()),
    ],
)
def test_every_way_to_import_is_seen(source: str, found: set[str]) -> None:
    assert set(imports(source)) == found


def test_no_hidden_randomness() -> None:
    """Randomness is an explicit Generator: nobody draws from, or seeds, NumPy's or Python's global state."""
    allowed = {"Generator", "default_rng", "SeedSequence", "PCG64", "Philox", "BitGenerator"}
    for path in FILES:
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
                assert node.attr in allowed, f"{path}: np.random.{node.attr}"
            if isinstance(node, ast.Import):
                assert all(alias.name not in ("random", "pickle") for alias in node.names), path


def test_nothing_is_ever_unpickled() -> None:
    for path in FILES:
        assert "allow_pickle=True" not in path.read_text(), path
