"""Settings from a file and from the environment: the command line wins, and a typing error is told."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.cli.test_cli import asked

FILE = """
port = 9000
data-dir = "/var/lib/rankloop"
deadline = 0.3
origins = ["https://a.example", "https://b.example"]
quiet = true
recommender = ["shop=shop.npz"]
store = "postgresql://anna:s3cret@db.example:5432/shop"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "rankloop.toml"
    found.write_text(FILE)
    return found


def test_the_command_line_wins_then_the_environment_then_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKLOOP_PORT", "9001")
    monkeypatch.setenv("RANKLOOP_DEADLINE", "0.4")
    monkeypatch.setenv("RANKLOOP_CONFIG", str(path))
    printed = asked("serve", "--print-config", "--deadline", "0.5")
    found = tomllib.loads(printed)
    assert (found["deadline"], found["port"], found["data_dir"]) == (0.5, 9001, "/var/lib/rankloop")
    assert (found["quiet"], found["recommender"]) == (True, ["shop=shop.npz"])
    assert found["origins"] == "https://a.example,https://b.example"
    assert "s3cret" not in printed
    for line in ("deadline = 0.5  # command line", "port = 9001  # environment", "quiet = true  # file"):
        assert line in printed.splitlines()
    assert 'host = "127.0.0.1"  # default' in printed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot = 1", "did you mean 'port'"),
        ("port = ", "cannot be read as settings"),
        ("[port]\nnumber = 1", "found a table"),
        ("new_keys = true", "no setting is called 'new_keys'"),
        ('port = "many"', "--port"),
        ("port = true", "'port' is no switch, found true"),
        ("origins = false", "'origins' is no switch"),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_a_suggestion(path: Path, text: str, words: str) -> None:
    path.write_text(text)
    said = asked("serve", "--config", str(path), "--print-config", expect=2)
    assert words in " ".join(said.split())


def test_a_variable_that_sets_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKLOOP_DEADLNE", "1")
    said = asked("serve", "--print-config")
    assert "RANKLOOP_DEADLNE sets nothing: did you mean 'deadline'?" in " ".join(said.split())
