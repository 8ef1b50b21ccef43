"""What every machine with Python has to search in: the documentation of its own standard library.

Modules are read, not imported: their source is parsed with `ast`. Those written in C have no source; a few of
them, which do nothing when they are imported, are asked for their texts instead.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Literal, TypeAlias, get_args

from rankloop.demo.product_search import words
from rankloop.demo.sellers import AMBER, BIRCH

Kind: TypeAlias = Literal["module", "class", "function", "method"]
KINDS: tuple[Kind, ...] = get_args(Kind)

LEFT_OUT = {
    *("antigravity", "distutils", "encodings", "ensurepip", "idlelib", "lib2to3", "pydoc_data"),
    *("test", "this", "turtledemo"),
}
IN_C = ("array", "binascii", "builtins", "cmath", "errno", "gc", "itertools", "math", "sys", "time", "zlib")
LONG = 15  # lines of source; about half of what is found has more
LONGEST = 4000  # characters of a text
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A module, class, function or method, and what its source says about it."""

    name: str  # json.JSONDecoder.decode
    kind: Kind
    doc: str
    lines: int | None = None  # of source; None: it is written in C
    arguments: int | None = None  # None: it takes none by its nature, or nobody can tell
    imports: int = 0  # files of the standard library that import its module

    @property
    def summary(self) -> str:
        """The first sentence or so of its text."""
        return self.doc.strip().split("\n\n")[0].replace("\n", " ")[:200]

    @property
    def title(self) -> str:
        """Its full name."""
        return self.name

    @property
    def package(self) -> str:
        """What has to be imported."""
        return self.name.partition(".")[0]

    @property
    def seller(self) -> str:
        """Who sells it: Amber what is short, Birch what is long.

        So a taste for short things is a preference for one seller, though nobody means it.

        >>> Entry(name="json.loads", kind="function", doc="Read", lines=49).seller
        'Birch'
        """
        return AMBER if (self.lines or 0) < LONG else BIRCH

    def texts(self) -> tuple[str, str, str]:
        """What a search looks through: the last part of the name, what is before it, and the text."""
        path, _, title = self.name.rpartition(".")
        return (
            f"{title.lower()} {' '.join(words(title))}",
            f"{path.lower()} {' '.join(words(path))}",
            self.doc,
        )

    def features(self) -> dict[str, float | None]:
        """What is known of an entry whatever is searched.

        >>> Entry(name="json.loads", kind="function", doc="Read", lines=49).features()["depth"]
        1.0
        """
        return {
            **{f"is_{kind}": float(self.kind == kind) for kind in KINDS},
            "depth": float(self.name.count(".")),
            "text_length": math.log1p(len(self.doc.split())),
            "source_length": None if self.lines is None else math.log1p(self.lines),
            "arguments": None if self.arguments is None else float(self.arguments),
            "examples": math.log1p(self.doc.count(">>>")),
            "popularity": math.log1p(self.imports),
        }


def standard_library(only: Sequence[str] = ()) -> list[Entry]:
    """Every public thing with a text in the standard library, or in some of its modules.

    >>> sorted(entry.name for entry in standard_library(["bisect"]) if entry.kind == "function")
    ['bisect.bisect_left', 'bisect.bisect_right', 'bisect.insort_left', 'bisect.insort_right']
    """
    known = [name for name in sorted(sys.stdlib_module_names - LEFT_OUT) if not name.startswith("_")]
    entries: list[Entry] = []
    popular: Counter[str] = Counter()
    for name in only or known:
        for module, tree in _parsed(name):  # one at a time: all trees together are a burden on the collector
            entries += _written(module, tree)
            popular.update(_imported(tree))
        entries += _compiled(name) if name in IN_C else ()
    return [replace(entry, imports=popular[entry.package]) for entry in entries]


def _parsed(package: str) -> Iterator[tuple[str, ast.Module]]:
    """The public modules of a package by their full names."""
    root = Path(sysconfig.get_path("stdlib"))
    for path in [root / f"{package}.py", *sorted((root / package).rglob("*.py"))]:
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        hidden = any(part.startswith("_") or part in ("test", "tests") for part in name.split("."))
        if path.is_file() and not hidden:
            yield name, ast.parse(path.read_bytes())


def _written(module: str, tree: ast.Module) -> Iterator[Entry]:
    """What a source file defines and documents."""
    lines = max((node.end_lineno or 1 for node in tree.body), default=1)
    if doc := ast.get_docstring(tree):
        yield Entry(name=module, kind="module", doc=doc[:LONGEST], lines=lines)
    for node in tree.body:
        yield from _defined(module, node, inside=False)


def _defined(owner: str, node: ast.stmt, *, inside: bool) -> Iterator[Entry]:
    if not isinstance(node, Definition) or node.name.startswith("_"):
        return
    name, doc = f"{owner}.{node.name}", ast.get_docstring(node)
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if isinstance(node, ast.ClassDef):
        if doc:
            yield Entry(name=name, kind="class", doc=doc[:LONGEST], lines=lines)
        for each in node.body:
            yield from _defined(name, each, inside=True)
    elif doc:
        given = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs) - inside
        kind: Kind = "method" if inside else "function"
        yield Entry(name=name, kind=kind, doc=doc[:LONGEST], lines=lines, arguments=max(given, 0))


def _compiled(module: str) -> Iterator[Entry]:
    """What a module written in C says about itself."""
    found = importlib.import_module(module)
    prefix = "" if module == "builtins" else f"{module}."
    yield Entry(name=module, kind="module", doc=(found.__doc__ or "")[:LONGEST])
    for name, value in sorted(vars(found).items()):
        if name.startswith("_") or isinstance(value, ModuleType) or not (doc := inspect.getdoc(value)):
            continue
        if inspect.isclass(value) and issubclass(value, BaseException) and value is not Exception:
            continue  # there are dozens, all alike
        if inspect.isclass(value):
            yield Entry(name=f"{prefix}{name}", kind="class", doc=doc[:LONGEST])
            yield from _methods(f"{prefix}{name}", value)
        elif callable(value):
            yield Entry(name=f"{prefix}{name}", kind="function", doc=doc[:LONGEST])


def _methods(owner: str, kind: type) -> Iterator[Entry]:
    for name, value in sorted(vars(kind).items()):
        if not name.startswith("_") and callable(value) and (doc := inspect.getdoc(value)):
            yield Entry(name=f"{owner}.{name}", kind="method", doc=doc[:LONGEST])


def _imported(tree: ast.Module) -> set[str]:
    """The packages that a file imports at its top."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names
