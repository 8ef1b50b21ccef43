"""Imports point one way: the table of layers, enforced."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "rankloop"

STAGES = {"data", "users", "metrics", "scorers", "explorers", "interleaving"}
MAY_IMPORT: dict[str, set[str]] = {  # and `errors`, which every layer may
    "errors": set(),
    "short_text": set(),
    "candidate": {"short_text"},
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
        *("recommend", "evaluation", "portable", "short_text", "candidate"),
    },
    "client": {"candidate"},
    "connect": {
        "candidate",
        "types",
        "service",
        "client",
    },  # what others run, joined to the service from outside
    "charts": {"types"},
    "dashboard": {"types", "store", "service", "charts"},  # production never contains the simulator
    "demo": {
        *("types", "candidate", "reviews", "recommend", "policies", "spelling", "store", "service"),
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


def test_imports_point_down() -> None:
    assert [
        f"{path.relative_to(ROOT)} imports {layer}"
        for path in FILES
        for layer in sorted(set(imports(path.read_text())))
        if layer not in MAY_IMPORT[layer_of(path)] | {layer_of(path), "errors", "__version__"}
    ] == []


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


def test_candidates_and_clients_need_neither_arrays_nor_the_service() -> None:
    heavy = {"numpy", "msgspec", "rankloop.types", "rankloop.service"}
    program = f"import sys, rankloop.client\nsys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_hidden_randomness() -> None:
    """Randomness is an explicit Generator: nobody draws from, or seeds, NumPy's or Python's global state."""
    allowed = {"Generator", "default_rng", "SeedSequence", "PCG64", "Philox", "BitGenerator"}
    for path in FILES:
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(ast.Attribute(ast.Name("np" | "numpy"), "random"), name):
                    assert name in allowed, f"{path}: np.random.{name}"
            if isinstance(node, ast.Import):
                assert all(alias.name not in ("random", "pickle") for alias in node.names), path


def test_nothing_is_ever_unpickled() -> None:
    for path in FILES:
        assert "allow_pickle=True" not in path.read_text(), path
