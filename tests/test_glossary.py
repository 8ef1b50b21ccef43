"""One meaning per word: the glossary is true of the documentation and of the source."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.test_docs import PAGES, ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
SOURCE = ROOT / "src" / "rankloop"
FILES = sorted(SOURCE.rglob("*.py"))
ALLOWED = {  # names with a word that is not used otherwise, and why
    "_put_in_place": "an idiom: to swap a finished file for the one that is there",
    "place_pins": "a verb: to put pinned results where they must stand",
    "placed": "a verb: events whose client said where the object stood",
}


def section(heading: str) -> list[list[str]]:
    """The rows of the table under a heading, as cells."""
    text = GLOSSARY.read_text("utf-8").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


SECTIONS = re.findall(r"^## (.+)$", GLOSSARY.read_text("utf-8"), re.MULTILINE)
TABLES = {heading: section(heading) for heading in SECTIONS if heading != "Not used"}
ROWS = [row for table in TABLES.values() for row in table]
NOT_USED = {row[0]: row[1] for row in section("Not used")}


def term(row: list[str]) -> str:
    return row[0].strip("*")


@cache
def everything_else() -> str:
    """The other pages and the source, in small letters and with single blanks."""
    texts = [page.read_text("utf-8") for page in PAGES if page != GLOSSARY]
    texts += [path.read_text("utf-8") for path in FILES]
    return re.sub(r"[\s_]+", " ", " ".join(texts)).lower()


def names(source: str) -> Iterator[str]:
    """Every name in a piece of source: of variables, attributes, arguments, functions, classes, modules."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.keyword(arg=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.alias(name=name, asname=other):
                yield from (*name.split("."), *([other] if other else []))
            case ast.ImportFrom(module=str(name)):
                yield from name.split(".")
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


@cache
def words(name: str) -> frozenset[str]:
    """The words of a name, in small letters."""
    return frozenset(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name))


@cache
def named() -> list[tuple[Path, str]]:
    """Every name in the source with its file, whose own name is one, too."""
    found = []
    for path in FILES:
        inside = path.relative_to(SOURCE)
        found += [(inside, name) for name in {*names(path.read_text("utf-8")), *inside.with_suffix("").parts}]
    return sorted(found)


@pytest.mark.parametrize("heading", TABLES)
def test_words_are_easy_to_find(heading: str) -> None:
    found = [term(row) for row in TABLES[heading]]
    assert found == sorted(found, key=str.lower)


def test_a_word_is_explained_once() -> None:
    found = [term(row) for row in ROWS]
    assert len(found) == len(set(found))
    assert not set(found) & set(NOT_USED)


@pytest.mark.parametrize("row", ROWS, ids=term)
def test_a_word_is_used(row: list[str]) -> None:
    word, of, _ = term(row).partition(" of a ")
    assert re.search(rf"\b{re.escape(word.lower())}", everything_else()), f"nobody says {word!r}"
    assert row[1], f"{word}{of} has no meaning"


@pytest.mark.parametrize(
    "name", sorted({name for row in ROWS for name in re.findall("`(rankloop[^`]+)`", row[2])})
)
def test_what_is_named_exists(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, member = name.rpartition(".")
        assert hasattr(importlib.import_module(module), member), name


def test_words_that_are_not_used_name_nothing() -> None:
    assert [
        f"{path}: {name}: say {NOT_USED[word]}, not {word}"
        for path, name in named()
        for word in words(name) & set(NOT_USED)
        if name not in ALLOWED
    ] == []


def test_a_replay_is_a_past_list_made_again() -> None:
    """Algorithms and experiments make no list again; what they replay is called replay memory."""
    assert [
        f"{path}: {name}"
        for path, name in named()
        if path.parts[0] in ("policies", "learning", "experiments", "spelling")
        and "replay" in words(name)
        and "memory" not in words(name)
    ] == []


def test_every_exception_is_needed() -> None:
    assert set(ALLOWED) <= {name for _, name in named()}


@pytest.mark.parametrize(
    "source",
    [
        "def pull(): ...",
        "class Outbox: ...",
        "def f(*, old_pen): ...",
        "from a.place import b",
        "a.face = 1",
        "f(luck=2)",
        "async def express(): ...",
    ],
)
def test_every_kind_of_name_is_seen(source: str) -> None:
    assert frozenset().union(*map(words, names(source))) & set(NOT_USED)
