"""rankloop export-model: what a ranker has learned, for search engines and runtimes of others."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankloop.cli.command_options import DataDir, StoreUrl
from rankloop.cli.console import CONSOLE
from rankloop.cli.trial_commands import Key
from rankloop.errors import SettingError, suggest_name

if TYPE_CHECKING:
    from rankloop.service.export import PortableModel


def export_model(
    kind: Annotated[str, typer.Argument(metavar="FORMAT", help="elasticsearch, opensearch, onnx or json.")],
    to: Annotated[Path, typer.Argument(help="A folder for the files; it is made if it is not there.")],
    data_dir: DataDir = Path("rankloop-data"),
    store: StoreUrl = "",
    url: Annotated[str, typer.Option(help="Ask a running service instead, as in `http://host:8000`.")] = "",
    key: Key = "",
    ranker: Annotated[str, typer.Option(help="Whose model.")] = "default",
    version: Annotated[int | None, typer.Option(help="A past version; otherwise the one in use.")] = None,
    by_document: Annotated[
        bool,
        typer.Option(
            "--by-document",
            help="What the same log teaches if each document has a score of its own, for engines that see "
            "one at a time.",
        ),
    ] = False,
) -> None:
    """Write a ranker's model for Elasticsearch, OpenSearch or ONNX, checked by re-scoring.

    The files are read back, and the scores of past lists computed from them alone: if they differ from the
    service's, nothing is written. What a format cannot say exactly is refused, with the way out.

    For example:

    `rankloop export-model onnx model/`

    `rankloop export-model elasticsearch model/ --by-document --data-dir shop`

    `rankloop export-model elasticsearch model/ --url http://127.0.0.1:8000 --version 1207`
    """
    from rankloop.service.export import FORMATS  # noqa: PLC0415

    if kind not in FORMATS:
        raise SettingError(f"no format is called {kind!r}: {suggest_name(kind, FORMATS)}")
    with CONSOLE.status("reading what was learned"):
        if url:
            model = _asked(url, key, ranker, version, by_document)
        else:
            model = _read(data_dir, store, ranker, version, by_document)
    with CONSOLE.status("writing, and re-scoring"):
        names, said = write_checked(model, kind, to)
    CONSOLE.print(f"{', '.join(names)} written to {to}: {said}", soft_wrap=True, markup=False)


def write_checked(model: PortableModel, kind: str, to: Path) -> tuple[list[str], str]:
    """Files of a model, put in place once they were read back and re-scored; what was found, in words."""
    from rankloop.service.export import FORMATS, check_files  # noqa: PLC0415

    form = FORMATS[kind]
    made = form.files(model)
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".checking-") as folder:
        for name, text in made.items():
            (Path(folder) / name).write_bytes(text)
        written = {name: (Path(folder) / name).read_bytes() for name in made}
        check = check_files(model, form, written)
        for name in made:
            (Path(folder) / name).replace(to / name)
    return sorted(made), (
        f"version {model.version} of {model.ranker}, learned from {model.learned_from:,} lists; "
        f"{check.candidates:,} candidates of {check.logged} logged and {check.made_up} made-up lists "
        f"re-scored from the files, off by at most {check.largest_error:.1g}"
    )


def _asked(url: str, key: str, ranker: str, version: int | None, by_document: bool) -> PortableModel:
    from rankloop.client import Client  # noqa: PLC0415
    from rankloop.service.export import PortableModel  # noqa: PLC0415

    with Client(url, key, timeout=600.0) as client:
        found = client.portable(ranker, version=version, by_document=by_document)
    return PortableModel.from_json(found)


def _read(data_dir: Path, store: str, ranker: str, version: int | None, by_document: bool) -> PortableModel:
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

    with DataDirectory(data_dir, store).open(create=False) as log:
        return ServiceFacade(log).portable(ranker, version=version, by_document=by_document)
