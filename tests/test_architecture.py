"""Imports point one way: the order of rooms, enforced."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "rankloop"

ORDER = """
errors charts _unchecked
types
short_text bounds state_fields query_set
caller_order
candidate naming policy
scorers metrics interleaving exploration
learning
exposure
policies
check_worlds
check_sanity
checks
evaluation recommend
lab lab/data lab/users
lab/theory
lab/reviews lab/baselines lab/recommenders
lab/simulation
lab/sweeps
lab/analysis
lab/report
lab/recommendation
lab/suites
client
connect
service/service_errors service/random_ids service/operator_log
service/store
service/core
service/events
service/operations
service/reports service/export
service/live_rankers
service/service_facade
service/service
service
service/http
service/pages
service/extensions
demo
cli
"""  # a room imports rooms of earlier lines, never of its own or later ones
LINE_OF = {room: number for number, line in enumerate(ORDER.strip().splitlines()) for room in line.split()}
FLOORS = {  # what a whole floor never imports, although it comes earlier
    "service": {"lab", "client"},
    "connect": {"lab", "service"},
    "client": {"lab", "service"},
    "charts": set(LINE_OF),
    "demo": {"lab/suites", "lab/sweeps", "lab/simulation"},
}
WRONG_WAY: dict[tuple[str, str], int] = {  # import statements that still point up; they become fewer
    # objects of a service delegate to the class of everything, which goes once its bodies have moved to them
    ("service", "service/extensions"): 8,
    ("service/core", "service/operations"): 1,
    ("service/http", "service/extensions"): 6,
    ("service/live_rankers", "service/extensions"): 5,
    ("service/operations", "service/extensions"): 1,
    ("service/operations", "service/reports"): 1,
    ("service/operations", "service/service_facade"): 4,
    ("service/pages", "service/extensions"): 5,
    ("service/reports", "service/extensions"): 3,
    ("service/reports", "service/service_facade"): 1,
    ("service/service", "service/extensions"): 2,
    ("service/service_facade", "service/extensions"): 6,
}


def room_of(parts: list[str]) -> str:
    """The room of a module, named without `rankloop`: two levels deep inside `lab` and `service`."""
    deep = parts[0] in ("lab", "service") and len(parts) > 1
    here = ROOT.joinpath(*parts[:2])
    return "/".join(parts[:2]) if deep and (here.is_dir() or here.with_suffix(".py").exists()) else parts[0]


def imports(source: str) -> Iterator[str]:
    """The rooms of rankloop that a piece of source imports, once for each statement."""
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        inside = [name.split(".")[1:] for name in names if name.startswith("rankloop.")]
        yield from {room_of(parts) for parts in inside if parts[0] != "__version__"}


def home(path: Path) -> str:
    """The room that a file belongs to."""
    parts = [*path.relative_to(ROOT).with_suffix("").parts]
    return room_of(parts[:-1] if parts[-1] == "__init__" else parts)


LONGEST_CHAIN = 13  # files of the core, each imported by the one before it

FILES = [
    path for path in sorted(ROOT.rglob("*.py")) if path not in (ROOT / "__init__.py", ROOT / "__main__.py")
]


def test_imports_point_one_way() -> None:
    up: Counter[tuple[str, str]] = Counter()
    for path in FILES:
        room = home(path)
        barred = FLOORS.get(room.split("/")[0], set())
        for other in imports(path.read_text()):
            inside = other == room
            later = LINE_OF[other] >= LINE_OF[room]
            if not inside and (later or other in barred or other.split("/")[0] in barred):
                up[room, other] += 1
    assert dict(sorted(up.items())) == WRONG_WAY


def test_every_room_has_its_place_in_the_order() -> None:
    assert {home(path) for path in FILES} <= set(LINE_OF)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from rankloop.lab.data import load_dataset", {"lab/data"}),
        ("from rankloop import metrics", {"metrics"}),
        ("import rankloop.lab.users.click_models", {"lab/users"}),
        ("def late():\n    from rankloop.service.store import Store", {"service/store"}),
        ("from rankloop.service import RankingService", {"service"}),
        ("import numpy", set()),
    ],
)
def test_every_way_to_import_is_seen(source: str, found: set[str]) -> None:
    assert set(imports(source)) == found


def file_of(module: str) -> Path | None:
    """The file of a module or package of rankloop, if this is one."""
    path = ROOT.parent.joinpath(*module.split("."))
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.exists()), None)


def imported_at_once(path: Path) -> set[Path]:
    """The files of rankloop that a file imports while it is being imported itself."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rankloop"):
            each = {
                file_of(f"{node.module}.{alias.name}") or file_of(str(node.module)) for alias in node.names
            }
            found |= {file for file in each if file is not None}
    return found - {path, ROOT / "__init__.py"}


def longest_chain(path: Path, known: dict[Path, list[Path]]) -> list[Path]:
    """The longest way from a file to one that imports nothing of ours."""
    if path not in known:
        known[path] = [path]
        chains = [longest_chain(each, known) for each in imported_at_once(path)]
        known[path] = [path, *max(chains, key=len, default=[])]
    return known[path]


def test_whoever_reads_a_policy_passes_few_files() -> None:
    chain = longest_chain(ROOT / "policies" / "policy_names.py", {})
    assert len(chain) <= LONGEST_CHAIN, [str(each.relative_to(ROOT)) for each in chain]


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
