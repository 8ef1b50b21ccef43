import errno
import subprocess
import sys
from collections.abc import Mapping

import pytest
import typer
from typer.testing import CliRunner

import rankloop
from rankloop.cli import app
from rankloop.cli.commands import COMMANDS, Command, import_command
from rankloop.cli.lab.lab_commands import LAB_COMMANDS
from rankloop.cli.stopping import Stopping


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table in (COMMANDS, LAB_COMMANDS) for name in table]
)
def test_the_table_says_of_a_command_what_the_command_says_itself(
    table: Mapping[str, Command], name: str
) -> None:
    found = table[name].load()
    said = found.info.help if isinstance(found, typer.Typer) else (found.__doc__ or "").splitlines()[0]
    assert table[name].help == said
    assert import_command(name, table).name == name


def test_help_and_version_load_no_arrays_no_frames_and_no_server() -> None:
    heavy = {"numpy", "polars", "altair", "litestar", "rankloop.lab", "rankloop.service"}
    program = "import sys; from rankloop.cli import app\ntry:\n    app()\nexcept SystemExit:\n    pass\n"
    program += f"sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    for options in (["--help"], ["--version"], ["lab", "--help"]):
        subprocess.run([sys.executable, "-c", program, *options], check=True, stdout=subprocess.DEVNULL)


def test_the_names_of_the_first_page_can_be_imported_from_the_top() -> None:
    assert all(getattr(rankloop, name) for name in rankloop.__all__)
    assert set(rankloop.__all__) == set(rankloop._MODULES)
    with pytest.raises(AttributeError, match="PairRunk"):
        _ = rankloop.PairRunk


def test_a_misspelled_command_gets_a_suggestion() -> None:
    result = CliRunner().invoke(app, ["lab", "comapre"])
    assert result.exit_code == 2
    assert "compare" in result.output


def test_a_command_of_the_lab_has_no_second_name() -> None:
    for name in LAB_COMMANDS:
        assert CliRunner().invoke(app, [name]).exit_code == 2, name


def test_whoever_stops_reading_is_told_nothing() -> None:
    """As `rankloop people find ... | head` does: a broken pipe is no error to speak of."""
    group = typer.Typer(cls=Stopping)

    @group.command()
    def write() -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    @group.command()
    def other() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert CliRunner().invoke(group, ["write"]).stderr == ""
    assert CliRunner().invoke(group, ["other"]).stderr == "error: No space left on device\n"
