import errno
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import rankloop
from rankloop.cli import app
from rankloop.cli.commands import COMMANDS, imported
from rankloop.cli.stopping import Stopping


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_of_a_command_what_the_command_says_itself(name: str) -> None:
    found = COMMANDS[name].load()
    said = found.info.help if isinstance(found, typer.Typer) else (found.__doc__ or "").splitlines()[0]
    assert COMMANDS[name].help == said
    assert imported(name).name == name


def test_help_and_version_load_no_arrays_no_frames_and_no_server() -> None:
    heavy = {"numpy", "polars", "altair", "litestar", "rankloop.lab", "rankloop.service"}
    program = "import sys; from rankloop.cli import app\ntry:\n    app()\nexcept SystemExit:\n    pass\n"
    program += f"sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    for option in ("--help", "--version"):
        subprocess.run([sys.executable, "-c", program, option], check=True, stdout=subprocess.DEVNULL)


def test_the_names_of_the_first_page_can_be_imported_from_the_top() -> None:
    assert all(getattr(rankloop, name) for name in rankloop.__all__)
    assert set(rankloop.__all__) - {"__version__"} == set(rankloop._MODULES)
    with pytest.raises(AttributeError, match="PairRunk"):
        _ = rankloop.PairRunk


def test_a_misspelled_command_gets_a_suggestion() -> None:
    result = CliRunner().invoke(app, ["comapre"])
    assert result.exit_code == 2
    assert "compare" in result.output


def test_whoever_stops_reading_is_told_nothing() -> None:
    """As `rankloop export ... | head` does: a broken pipe is no error to speak of."""
    group = typer.Typer(cls=Stopping)

    @group.command()
    def write() -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    @group.command()
    def other() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert CliRunner().invoke(group, ["write"]).stderr == ""
    assert CliRunner().invoke(group, ["other"]).stderr == "error: No space left on device\n"
