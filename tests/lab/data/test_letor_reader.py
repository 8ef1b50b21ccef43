import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from rankloop.errors import DataError
from rankloop.lab.data import read_letor

TEXT = b"2 qid:7 1:0.5 3:-1e-2 # best\n\n# a comment\n0 qid:7 2:1\n1 qid:nine 1:.25"
EXPECTED = np.array([[0.5, 0, -0.01], [0, 1, 0], [0.25, 0, 0]], np.float32)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_plain_and_compressed_files_read_the_same(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "train.txt"  # compression is told by the content
    path.write_bytes(pack(TEXT))
    queries = read_letor(path)
    np.testing.assert_array_equal(queries.features, EXPECTED)
    assert queries.features.dtype == np.float32
    assert queries.offsets.dtype == np.int64
    assert queries.offsets.tolist() == [0, 2, 3]
    assert queries.relevance.tolist() == [2, 0, 1]
    assert queries.ids == ("7", "nine")
    assert not queries.features.flags.writeable


@pytest.mark.parametrize(
    "unusual",
    [
        TEXT.replace(b" ", b"\t"),
        TEXT.replace(b" ", b"   "),
        TEXT.replace(b"\n", b"\r\n"),
        TEXT.replace(b"1:0.5 3:-1e-2", b"3:-1e-2 1:0.5"),
        TEXT.replace(b"0.5", b"+0.5"),
        TEXT.replace(b"3:", b"003:"),
        TEXT + b"\n",
        TEXT + b" # last",
        b"\xef\xbb\xbf" + TEXT,
    ],
)
def test_unusual_but_clear_lines_are_understood(tmp_path: Path, unusual: bytes) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(unusual)
    np.testing.assert_array_equal(read_letor(path).features, EXPECTED)


def test_a_file_longer_than_a_chunk_keeps_its_queries_and_widths(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("".join(f"{row % 3} qid:{row // 1000} {1 + row % 50}:{row}\n" for row in range(10_000)))
    queries = read_letor(path)
    rows = np.arange(10_000)
    assert queries.offsets.tolist() == list(range(0, 10_001, 1000))
    assert queries.features.shape == (10_000, 50)
    np.testing.assert_array_equal(queries.features[rows, rows % 50], rows)
    np.testing.assert_array_equal(queries.features.sum(axis=1), rows)
    np.testing.assert_array_equal(queries.relevance, rows % 3)


def test_a_document_without_features_is_all_zeros(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 qid:1\n0 qid:1 # nothing\n")
    assert read_letor(path, n_features=2).features.tolist() == [[0, 0], [0, 0]]


def test_a_promised_width_pads_and_is_enforced(letor_file: Path) -> None:
    assert read_letor(letor_file, n_features=5).features.shape == (3, 5)
    with pytest.raises(DataError, match=r"train.txt, line 1: expected a feature from 1 to 2, found '3:1'"):
        read_letor(letor_file, n_features=2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 qid:1 5:abc", "expected <feature>:<number>, found '5:abc'"),
        ("0 qid:1 5:1.2.3", "expected <feature>:<number>, found '5:1.2.3'"),
        ("0 qid:1 5:1_0", "expected <feature>:<number>, found '5:1_0'"),
        ("0 qid:1 5:1:2", "expected <feature>:<number>, found '5:1:2'"),
        ("0 qid:1 5:", "expected <feature>:<number>, found '5:'"),
        ("0 qid:1 5: 3", "expected <feature>:<number>, found '5:'"),
        ("0 qid:1 :5", "expected <feature>:<number>, found ':5'"),
        ("0 qid:1 5", "expected <feature>:<number>, found '5'"),
        ("0 qid:1 1e0:5", "expected <feature>:<number>, found '1e0:5'"),
        ("0 qid:1 -1:5", "expected <feature>:<number>, found '-1:5'"),
        ("0 qid:1 1:nan", "expected a finite number, found '1:nan'"),
        ("0 qid:1 1:-inf", "expected a finite number, found '1:-inf'"),
        ("0 qid:1 1:1e39", "expected a number below 3.4e38 (single precision), found '1:1e39'"),
        ("0 qid:1 1:1e999", "expected a number below 3.4e38 (single precision), found '1:1e999'"),
        ("0 qid:1 0:1", "expected a feature from 1 to 10000, found '0:1'"),
        ("0 qid:1 10001:1", "expected a feature from 1 to 10000, found '10001:1'"),
        ("0 qid:1 99999999999999999999999:1", "found '99999999999999999999999:1'"),
        ("0 qid:1 3:1 3:2", "expected feature 3 once, found '3:2' after another"),
        ("0 qid:1 3:1 4:1 3:2", "expected feature 3 once, found '3:2' after another"),
        ("-1 qid:1 1:1", "expected a grade (a whole number from 0 to 999) first, found '-1'"),
        ("1.5 qid:1 1:1", "expected a grade (a whole number from 0 to 999) first, found '1.5'"),
        ("1000 qid:1 1:1", "expected a grade (a whole number from 0 to 999) first, found '1000'"),
        ("good qid:1 1:1", "expected a grade (a whole number from 0 to 999) first, found 'good'"),
        ("0 1:1 2:1", "expected qid:<query> after the grade, found '1:1'"),
        ("0 qid: 1:1", "expected qid:<query> after the grade, found 'qid:'"),
        ("0", "expected qid:<query> after the grade, found the end of the line"),
        (
            "0 qid:first 1:1",
            "expected the lines of query 'first' together (they began at line 1), found it again",
        ),
        ("0 qid:1 1:\0", "expected text, found binary data (a zero byte)"),
        ("0 qid:1 1:" + "x" * 99, "expected <feature>:<number>, found '1:" + "x" * 35 + "...'"),
    ],
)
def test_a_malformed_line_is_named_with_what_was_expected_and_found(
    tmp_path: Path, line: str, message: str
) -> None:
    path = tmp_path / "train.txt"
    path.write_text(f"0 qid:first 1:1\n# comment\n1 qid:second 1:1\n{line}\n0 qid:last 1:1\n")
    with pytest.raises(DataError) as caught:
        read_letor(path)
    assert str(caught.value).startswith(f"{path}, line 4: ")
    assert message in str(caught.value)


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(b"0 qid:1 1:1\n0 qid:\xff 1:1\n")
    with pytest.raises(DataError, match=r"train.txt, line 2: expected UTF-8 text, found byte 0xff"):
        read_letor(path)


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.npy"
    np.save(path, np.zeros(100))
    with pytest.raises(DataError, match=r"train.npy, line 1: expected (UTF-8 )?text, found"):
        read_letor(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a comment\n", gzip.compress(b"", mtime=0)])
def test_a_file_without_documents_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"empty.txt: expected lines of <grade> qid:<query> .*, found none"):
        read_letor(path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_truncated_archive_is_refused(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "train.txt.gz"
    packed = pack(b"".join(b"0 qid:%d 1:0.%d\n" % (row, row**3) for row in range(5000)))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(
        DataError, match=r"expected a complete compressed file, found a truncated or damaged one"
    ):
        read_letor(path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_damaged_archive_is_refused(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "train.txt.gz"
    packed = bytearray(pack(b"".join(b"0 qid:%d 1:0.%d\n" % (row, row**3) for row in range(5000))))
    packed[len(packed) // 2] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(DataError, match=r"train.txt.gz"):
        read_letor(path)


def test_a_folder_and_a_missing_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a file, found a folder; name one of the files in it"):
        read_letor(tmp_path)
    with pytest.raises(DataError, match="expected a file, found nothing of that name; check the path"):
        read_letor(tmp_path / "train.txt")
