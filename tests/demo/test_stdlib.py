"""The corpus: the standard library, read and not imported."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest

from rankloop.demo.product_search import Corpus, words
from rankloop.demo.stdlib import Entry, standard_library


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return standard_library()


def test_there_is_a_lot_to_find(entries: list[Entry]) -> None:
    names = {entry.name for entry in entries}
    assert len(names) > 2000
    assert {"json", "json.loads", "json.decoder.JSONDecoder", "str.split", "math.sqrt"} <= names
    assert {entry.kind for entry in entries} == {"module", "class", "function", "method"}


def test_nothing_private_and_nothing_without_a_text(entries: list[Entry]) -> None:
    for entry in entries:
        assert entry.doc.strip(), entry.name
        assert not any(part.startswith("_") for part in entry.name.split(".")), entry.name


def test_modules_are_read_and_not_imported() -> None:
    before = set(sys.modules)
    standard_library(["turtle", "webbrowser", "antigravity", "this"])
    assert not {"turtle", "antigravity", "this"} & (set(sys.modules) - before)


def test_what_is_written_in_c_has_no_source_and_so_no_length(entries: list[Entry]) -> None:
    by_name = {entry.name: entry for entry in entries}
    assert by_name["math.sqrt"].lines is None
    assert by_name["math.sqrt"].features()["source_length"] is None
    assert (by_name["json.loads"].lines or 0) > 10


def test_what_many_import_is_popular(entries: list[Entry]) -> None:
    by_name = {entry.name: entry for entry in entries}
    assert by_name["sys"].imports > by_name["json"].imports


def test_the_index_is_made_once_and_again_when_it_is_of_another_python(tmp_path: Path) -> None:
    path, made = tmp_path / "corpus.db", []

    def entries() -> list[Entry]:
        made.append(1)
        return [Entry(name="json.loads", kind="function", doc="Deserialize a JSON document.")]

    for _ in range(2):
        corpus = Corpus.open(path, Entry, entries)
        assert len(corpus) == 1
        corpus.close()
    assert len(made) == 1
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE made SET format = 'another'")
    connection.close()
    Corpus.open(path, Entry, entries).close()
    assert len(made) == 2


def test_a_file_that_is_no_index_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "corpus.db"
    path.write_bytes(b"not a database at all" * 100)
    corpus = Corpus.open(path, Entry, lambda: [Entry(name="a", kind="module", doc="Text")])
    assert corpus.entry("a") is not None
    corpus.close()


@pytest.mark.parametrize("text", ["", "  ", '"', "* OR", "NEAR(a b)", "'; DROP TABLE x", "\x00", "ключ"])
def test_any_search_is_only_words(text: str) -> None:
    corpus = Corpus.of([Entry(name="a.b", kind="function", doc="or near drop table entries")])
    corpus.search(text)
    assert len(corpus) == 1
    corpus.close()


def test_the_parts_of_a_name_are_words() -> None:
    assert words("HTTPServer") == ["http", "server"]
    corpus = Corpus.of([Entry(name="http.server.HTTPServer", kind="class", doc="Answers")])
    assert [hit.entry.name for hit in corpus.search("http server")] == ["http.server.HTTPServer"]
    corpus.close()
