"""Settings of a command from a file and from the environment; the command line wins, then variables.

A file is TOML with the names of the options; a variable is `RANKLOOP_` and the name in capitals.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from rankloop.cli.console import ERRORS
from rankloop.errors import SettingError, suggest_name

PREFIX = "RANKLOOP"
ELSEWHERE = ("DATA", "CACHE", "URL", "KEY")  # variables of this prefix that other parts read
OURS = ("config", "print_config", "new_keys")  # said on the command line alone
SOURCES = {
    "COMMANDLINE": "command line",
    "ENVIRONMENT": "environment",
    "DEFAULT_MAP": "file",
    "DEFAULT": "default",
}
SECRET = "store"  # an address that may hold a password
ADDRESS = "alert_url"  # one that may hold a token


def read_settings(path: Path, known: Iterable[str], *, flags: Collection[str] = ()) -> dict[str, Any]:
    r"""The settings of a file, by the names of options; what no option is called is refused.

    Only `flags` may be true or false: elsewhere that would be taken for the number 1 or 0.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
    ...     written = file.write('port = 9000\norigins = ["https://a.example", "https://b.example"]')
    ...     file.flush()
    ...     read_settings(Path(file.name), ["port", "origins"])
    {'port': 9000, 'origins': 'https://a.example,https://b.example'}
    """
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except FileNotFoundError as error:
        raise SettingError(
            f"{path} does not exist: name a file of settings, as deploy/rankloop.toml is one"
        ) from error
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} cannot be read as settings: {error}") from error
    names = [name for name in known if name not in OURS]
    settings = {}
    for key, value in found.items():
        name = key.replace("-", "_")
        if name not in names:
            raise SettingError(f"{path}: no setting is called {key!r}: {suggest_name(name, names)}")
        if isinstance(value, bool) and name not in flags:
            raise SettingError(f"{path}: {key!r} is no switch, found {json.dumps(value)}: write its value")
        settings[name] = _plain(path, key, value)
    return settings


def _plain(path: Path, key: str, value: Any) -> Any:
    if isinstance(value, list) and key != "recommender":
        return ",".join(map(str, value))
    if isinstance(value, Mapping):
        raise SettingError(f"{path}: {key!r} is one value, found a table: write {key} = ...")
    return value


def unknown_variables(environment: Mapping[str, str], known: Iterable[str]) -> Iterator[str]:
    """What is wrong with variables of our prefix that set nothing, in words.

    >>> list(unknown_variables({"RANKLOOP_PROT": "1", "RANKLOOP_DATA": "x"}, ["port"]))
    ["RANKLOOP_PROT sets nothing: did you mean 'port'? choose from port"]
    """
    names = [name for name in known if name not in OURS]
    allowed = {f"{PREFIX}_{name.upper()}" for name in (*names, *ELSEWHERE, "config")}
    for variable in sorted(environment):
        if variable.startswith(f"{PREFIX}_") and variable not in allowed:
            said = suggest_name(variable.removeprefix(f"{PREFIX}_").lower(), names)
            yield f"{variable} sets nothing: {said}"


def _take_in(context: typer.Context, path: Path | None) -> Path | None:
    """Before the other options are looked at: let the file and the environment answer for them."""
    known = [each.name for each in context.command.params if each.name]
    context.auto_envvar_prefix = PREFIX
    if path is not None:
        flags = [
            each.name for each in context.command.params if each.name and getattr(each, "is_flag", False)
        ]
        context.default_map = read_settings(path, known, flags=flags)
    for sentence in unknown_variables(os.environ, known):
        ERRORS.print(sentence)
    return path


def effective(context: typer.Context) -> str:
    """All settings as a file has them, and where each comes from; passwords are left out."""
    lines = []
    for name, value in context.params.items():
        source = context.get_parameter_source(name)
        if name in OURS or value is None or value == ():
            continue
        said = SOURCES.get(source.name if source else "", "default")
        lines.append(f"{name} = {json.dumps(_shown(name, value))}  # {said}")
    return "\n".join(lines)


def _shown(name: str, value: Any) -> Any:
    if name == SECRET and value:
        from rankloop.service.store.postgres.postgres_connections import public  # noqa: PLC0415

        return public(value)
    if name == ADDRESS and value:
        parts = urlsplit(value)
        return f"{parts.scheme}://{parts.hostname}/..."
    if isinstance(value, list | tuple):
        return list(value)
    return value if isinstance(value, bool | int | float) else str(value)


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        envvar="RANKLOOP_CONFIG",
        is_eager=True,
        callback=_take_in,
        help="A TOML file with settings, named like these options; variables such as `RANKLOOP_PORT` and the "
        "command line win over it.",
    ),
]
PrintConfig = Annotated[
    bool, typer.Option("--print-config", help="Print all settings, and where each comes from, and stop.")
]
