"""Text files as numbered chunks of lines, plain or compressed."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from rankloop.errors import DataError

CHUNK_BYTES = 1 << 17  # measured: smaller is slower, larger costs memory
BUFFER_BYTES = 1 << 20
GZIP_MAGIC, XZ_MAGIC, BYTE_ORDER_MARK = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Lines:
    """Some consecutive lines of a file and the number of the first; lines count from 1."""

    source: str
    first: int
    content: Sequence[bytes]

    def error(self, line: int, *, expected: str, found: str) -> DataError:
        """Make the one kind of error that reports a malformed line."""
        return DataError(f"{self.source}, line {line}: expected {expected}, found {found}")


def read_lines(path: Path) -> Iterator[Lines]:
    r"""Yield the file in small chunks; compression is told by the content, not the name.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.txt"
    >>> _ = path.write_bytes(b"0 qid:1 1:0.5\n1 qid:1 1:2")
    >>> [(lines.first, lines.content) for lines in read_lines(path)]
    [(1, [b'0 qid:1 1:0.5\n', b'1 qid:1 1:2'])]
    """
    _check_is_file(path)
    first = 1
    try:
        with _open(path) as file:
            while content := file.readlines(CHUNK_BYTES):
                if first == 1:
                    content[0] = content[0].removeprefix(BYTE_ORDER_MARK)
                yield Lines(str(path), first, content)
                first += len(content)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}, after line {first - 1}: expected a complete compressed file, found a truncated or "
            f"damaged one ({error}); copy or download it again"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, found: {error.strerror or error}") from error


def _check_is_file(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path}: expected a file, found a folder; name one of the files in it")
    if not path.exists():
        raise DataError(f"{path}: expected a file, found nothing of that name; check the path")


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        magic = file.read(len(XZ_MAGIC))
    if magic.startswith(GZIP_MAGIC):
        return _buffered(gzip.open(path))
    if magic == XZ_MAGIC:
        return _buffered(lzma.open(path))
    return path.open("rb")


def _buffered(file: object) -> IO[bytes]:
    # The decompressors' own readline is Python code; a BufferedReader's is not.
    return io.BufferedReader(cast(io.RawIOBase, file), BUFFER_BYTES)
