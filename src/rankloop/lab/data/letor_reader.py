"""LETOR and svmlight text as a `QuerySet`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.letor_parser import MAX_FEATURE, Block, parse_chunk
from rankloop.lab.data.text_lines import Lines, read_lines
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

FORMAT_VERSION = 1  # part of the cache's key: raise it whenever the same file is read differently


def read_letor(path: str | Path, *, n_features: int | None = None) -> QuerySet:
    r"""Read `<grade> qid:<query> <feature>:<number> ... [# comment]`, plain, gzip or xz.

    Features a line does not mention are 0. `n_features` promises a width: narrower rows are padded, a higher
    index is an error. Loading needs little more memory than twice the matrix.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("2 qid:7 1:0.5 3:1 # best\n0 qid:7 2:1\n1 qid:9 1:0.25\n")
    >>> queries = read_letor(path)
    >>> queries.ids, queries.features.shape, queries[0].relevance.tolist()
    (('7', '9'), (3, 3), [2, 0])
    """
    _keep_freed_memory()
    rows = _Rows()
    for lines in read_lines(Path(path)):
        rows.add(lines, parse_chunk(lines, max_feature=n_features or MAX_FEATURE))
    if not rows.grades:
        raise DataError(f"{path}: expected lines of <grade> qid:<query> <feature>:<number> ..., found none")
    return rows.to_query_set(n_features or 0)


def _keep_freed_memory() -> None:
    """Let the C library learn, from one freed block, that large arrays come and go.

    Otherwise glibc returns the arrays of every chunk to the system, which takes half the time of loading.
    """
    np.empty(16 << 20, np.uint8)


@dataclass
class _Rows:
    """The documents read so far."""

    blocks: list[FloatArray] = field(default_factory=list)
    grades: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)  # query -> the line it began at
    current: str | None = None

    def add(self, lines: Lines, block: Block) -> None:
        for row, query in enumerate(block.queries, len(self.grades)):
            if query != self.current:
                line = block.lines[row - len(self.grades)]
                if query in self.ids:
                    expected = f"the lines of query {query!r} together (they began at line {self.ids[query]})"
                    raise lines.error(
                        line, expected=expected, found="it again after another query; sort the file"
                    )
                self.ids[query] = line
                self.starts.append(row)
                self.current = query
        self.grades.extend(block.grades)
        self.blocks.append(block.features)

    def to_query_set(self, n_features: int) -> QuerySet:
        width = max(n_features, *(block.shape[1] for block in self.blocks), 1)
        features = np.zeros((len(self.grades), width), np.float32)
        start = 0
        for block in _drain(self.blocks):
            features[start : start + len(block), : block.shape[1]] = block
            start += len(block)
        features.flags.writeable = False
        offsets = np.array([*self.starts, len(self.grades)], np.int64)
        return QuerySet(features, offsets, np.array(self.grades, np.int64), tuple(self.ids))


def _drain(blocks: list[FloatArray]) -> Iterator[FloatArray]:
    """Yield the blocks in order and forget each, so that matrix and blocks are never both complete."""
    blocks.reverse()
    while blocks:
        yield blocks.pop()
