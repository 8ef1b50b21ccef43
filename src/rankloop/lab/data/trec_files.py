"""TREC files: judgements (qrels) and runs, read and written as trec_eval understands them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.text_lines import Lines, read_lines
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]  # query -> document -> grade
TrecRun: TypeAlias = Mapping[str, Mapping[str, float]]  # query -> document -> score, higher is better

T = TypeVar("T")
QRELS_LINE = "<query> <iteration> <document> <grade>"
RUN_LINE = "<query> Q0 <document> <rank> <score> <tag>"


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    r"""Read `<query> <iteration> <document> <grade>`, plain, gzip or xz; grades below 0 are junk.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("7 0 a 2\n7 0 b 0\n9 0 c 1\n")
    >>> read_qrels(path)
    {'7': {'a': 2, 'b': 0}, '9': {'c': 1}}
    """
    found: dict[str, dict[str, int]] = {}
    for lines, number, words in _words(Path(path), 4, QRELS_LINE):
        query, _, document, grade = words
        try:
            value = int(grade)
        except ValueError:
            raise lines.error(number, expected="a whole number as grade", found=repr(grade)) from None
        _put(found, query, document, value, lines, number)
    return _filled(found, path, QRELS_LINE)


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    r"""Read `<query> Q0 <document> <rank> <score> <tag>`; what counts is the score, as in trec_eval.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.run"
    >>> _ = path.write_text("7 Q0 b 1 0.9 mine\n7 Q0 a 2 0.4 mine\n")
    >>> read_run(path)
    {'7': {'b': 0.9, 'a': 0.4}}
    """
    found: dict[str, dict[str, float]] = {}
    for lines, number, words in _words(Path(path), 6, RUN_LINE):
        query, _, document, _, score, _ = words
        try:
            value = float(score)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise lines.error(number, expected="a finite number as score", found=repr(score))
        _put(found, query, document, value, lines, number)
    return _filled(found, path, RUN_LINE)


def format_qrels(queries: QuerySet) -> str:
    """Write the grades of a set as lines of a qrels file.

    >>> queries = QuerySet(np.eye(3), np.array([0, 2, 3]), np.array([1, 0, 2]), ("7", "9"))
    >>> print(format_qrels(queries), end="")
    7 0 7-1 1
    7 0 7-2 0
    9 0 9-1 2
    """
    lines = []
    for index, judged in enumerate(queries):
        names = document_names(queries, index)
        grades = judged.relevance.tolist()
        lines += [f"{judged.query.id} 0 {name} {grade}" for name, grade in zip(names, grades, strict=True)]
    return "\n".join([*lines, ""])


def format_run(queries: QuerySet, scores: FloatArray, *, tag: str, depth: int | None = None) -> str:
    """Write the documents of every query by falling score, as lines of a run file.

    trec_eval looks at scores alone, in single precision, and puts equal ones in the order of names; so scores
    are written in single precision, and lowered by the least that makes them fall strictly. Equal scores
    stand in the order of the set. `depth` is how many documents are written for a query; all, if None.

    >>> queries = QuerySet(np.eye(3), np.array([0, 2, 3]), np.array([1, 0, 2]), ("7", "9"))
    >>> print(format_run(queries, np.array([0.25, 0.5, 1.0]), tag="mine"), end="")
    7 Q0 7-2 1 0.5 mine
    7 Q0 7-1 2 0.25 mine
    9 Q0 9-1 1 1.0 mine
    """
    _check_word("the tag of a run", tag)
    if scores.shape != (len(queries.features),) or not np.isfinite(scores).all():
        raise DataError(f"a run needs a finite score for each of {len(queries.features)} documents")
    lines = []
    for index, start in enumerate(queries.offsets[:-1].tolist()):
        names, own = document_names(queries, index), scores[start : int(queries.offsets[index + 1])]
        order = np.argsort(-own, kind="stable")[:depth]
        for rank, (row, score) in enumerate(
            zip(order.tolist(), make_decreasing(own[order]), strict=True), start=1
        ):
            lines.append(f"{queries.ids[index]} Q0 {names[row]} {rank} {score!r} {tag}")
    return "\n".join([*lines, ""])


def make_decreasing(scores: FloatArray) -> list[float]:
    """Sorted scores in single precision, each below the one before it.

    >>> make_decreasing(np.array([2.0, 2.0, 1.0]))
    [2.0, 1.9999998807907104, 1.0]
    """
    with np.errstate(over="ignore"):
        single = np.clip(scores, -1e38, 1e38).astype(np.float32)
    for rank in range(1, len(single)):
        if single[rank] >= single[rank - 1]:
            single[rank] = np.nextafter(single[rank - 1], np.float32(-np.inf))
    return [float(score) for score in single]


def document_names(queries: QuerySet, index: int) -> list[str]:
    """Name the documents of a query: by their ids, or by query and number, counted from 1."""
    query = queries[index].query
    _check_word("the id of a query", query.id)
    names = list(query.doc_ids) or [f"{query.id}-{number}" for number in range(1, query.n_docs + 1)]
    for name in names:
        _check_word("the id of a document", name)
    return names


def order_documents(run: Mapping[str, float]) -> list[str]:
    """Sort documents as trec_eval does: by score in single precision, then by name, falling.

    >>> order_documents({"a": 0.5, "b": 0.5, "c": 0.9})
    ['c', 'b', 'a']
    """
    return sorted(run, key=lambda document: (np.float32(run[document]), document), reverse=True)


def sort_run(qrels: Mapping[str, int], run: Mapping[str, float]) -> tuple[IntArray, IntArray]:
    """Make a list of rows of a query's run, and the grade of every row: all that is judged or was found.

    What nobody judged, or judged as junk, has the grade 0.

    >>> order, grades = sort_run({"a": 2, "b": -1}, {"c": 0.9, "a": 0.1})
    >>> order.tolist(), grades.tolist()
    ([2, 0], [2, 0, 0])
    """
    rows = {document: row for row, document in enumerate(dict.fromkeys([*qrels, *run]))}
    grades = np.array([max(qrels.get(document, 0), 0) for document in rows], dtype=np.int64)
    return np.array([rows[document] for document in order_documents(run)], dtype=np.int64), grades


def _words(path: Path, count: int, form: str) -> Iterator[tuple[Lines, int, list[str]]]:
    """Every line that is not empty, as so many words, with its number."""
    for lines in read_lines(path):
        for number, content in enumerate(lines.content, start=lines.first):
            try:
                words = content.decode().split()
            except UnicodeDecodeError:
                raise lines.error(number, expected=f"{form} in UTF-8", found=repr(content[:40])) from None
            if words and len(words) != count:
                found = " ".join(words)
                raise lines.error(number, expected=form, found=f"{len(words)} words: {found[:60]!r}")
            if words:
                yield lines, number, words


def _put(
    found: dict[str, dict[str, T]], query: str, document: str, value: T, lines: Lines, number: int
) -> None:
    documents = found.setdefault(query, {})
    if document in documents:
        raise lines.error(
            number, expected="each document once for a query", found=f"{document!r} for {query!r} again"
        )
    documents[document] = value


def _filled(found: dict[str, T], path: str | Path, form: str) -> dict[str, T]:
    if not found:
        raise DataError(f"{path}: expected lines of {form}, found none")
    return found


def _check_word(what: str, name: str) -> None:
    if len(name.split()) != 1 or name != name.strip():
        raise DataError(f"{what} must be one word to stand in a TREC file, found {name!r}")
