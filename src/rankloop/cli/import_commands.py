"""rankloop import-clicks: a click log of another system, understood and then learned."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from rankloop.cli.command_options import DataDir, StoreUrl
from rankloop.cli.console import CONSOLE
from rankloop.errors import DataError

if TYPE_CHECKING:
    from rankloop.connect.click_log import LoggedList, Mapped, Row
    from rankloop.connect.click_log_lists import Scan

SAMPLE, SHOWN = 1000, 3  # rows from which a mapping is guessed; lists that a preview shows


def import_clicks(
    source: Annotated[Path, typer.Argument(help="A CSV or Parquet file, or a dump of UBI queries.")],
    map_: Annotated[
        str, typer.Option("--map", help="Which column is what, as in `object=sku,clicked=click`.")
    ] = "",
    features: Annotated[
        str, typer.Option(help="Columns that are features, comma-separated; otherwise all other numbers.")
    ] = "",
    ubi_events: Annotated[
        Path | None,
        typer.Option(help="A dump of UBI events (NDJSON); the source then is one of UBI queries."),
    ] = None,
    object_features: Annotated[
        Path | None, typer.Option(help="CSV or Parquet with features of objects, for UBI; ids come first.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show how the log is understood, and change nothing.")
    ] = False,
    data_dir: DataDir = Path("rankloop-data"),
    store: StoreUrl = "",
    ranker: Annotated[str, typer.Option(help="Who learns; created if it is not there.")] = "default",
) -> None:
    """Import what another system has shown and what was clicked, one row for each result shown.

    Lists are learned as they were shown. What cannot be learned rightly is left out, and counted by its
    reason. The same log again changes nothing; after Ctrl-C, run it again to go on.

    For example:

    `rankloop import-clicks log.csv --preview`

    `rankloop import-clicks log.csv --map query=search_term,object=sku,clicked=click,position=rank`

    `rankloop import-clicks queries.ndjson --ubi-events events.ndjson --object-features products.csv`
    """
    from rankloop.connect.click_log import lists_of, rows_of, scan, ubi_lists  # noqa: PLC0415

    if ubi_events is not None:
        by_object = {} if object_features is None else _features_of(object_features)

        def lists() -> Iterator[LoggedList]:
            return ubi_lists(source, ubi_events, features=by_object)
    else:
        mapped = _mapped(rows_of(source), map_, features)
        _show_mapping(mapped)

        def lists() -> Iterator[LoggedList]:
            return lists_of(rows_of(source), mapped)

    with CONSOLE.status("reading") as status:
        found = scan(
            lists(),
            lambda so_far: status.update(f"reading: {so_far.lists:,} lists, {so_far.clicks:,} clicks"),
        )
    if preview:
        _show_lists(islice(lists(), SHOWN))
    _show_scan(found)
    if not found.lists:
        raise DataError(f"no list of {source} can be imported: look at the reasons, and at --map")
    if not preview:
        _import(lists(), found, data_dir, store, ranker)


def _import(lists: Iterator[LoggedList], found: Scan, data_dir: Path, store: str, ranker: str) -> None:
    from rankloop.service.operations.click_log_import import import_click_log  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

    with DataDirectory(data_dir, store).open() as log, ServiceFacade(log) as service:
        if ranker not in service.rankers():
            service.create(ranker)
        with CONSOLE.status("importing") as status:
            done = import_click_log(
                service,
                ranker,
                lists,
                look=lambda so_far: status.update(
                    f"importing: {so_far.lists + so_far.known:,} of {found.lists:,} lists"
                ),
            )
        learned = service.model(ranker).lists
    for reason, count in done.left_out.items():
        if reason not in found.left_out:
            CONSOLE.print(f"{count:,} lists were left out: {reason}", soft_wrap=True, markup=False)
    CONSOLE.print(
        f"{done.lists:,} lists with {done.clicks:,} clicks imported, {done.known:,} were there already; "
        f"{ranker} has learned from {learned:,} lists",
        soft_wrap=True,
        markup=False,
    )


def _mapped(rows: Iterator[Row], given: str, features: str) -> Mapped:
    from rankloop.connect.click_log import guessed, parse_mapping  # noqa: PLC0415

    sample = [row.values for row in islice(rows, SAMPLE)]
    if not sample:
        raise DataError("there are no rows to import")
    names = list(sample[0])
    chosen = [each.strip() for each in features.split(",") if each.strip()] if features else None
    return guessed(names, sample, parse_mapping(given, names), chosen)


def _features_of(path: Path) -> dict[str, dict[str, float | None]]:
    from rankloop.connect.click_log import rows_of  # noqa: PLC0415
    from rankloop.connect.click_log_mapping import number_of  # noqa: PLC0415

    found: dict[str, dict[str, float | None]] = {}
    for row in rows_of(path):
        (_, name), *values = row.values.items()
        try:
            found[str(name)] = {column: number_of(value) for column, value in values}
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}, row {row.number}: features must be numbers: {error}") from error
    return found


def _show_mapping(mapped: Mapped) -> None:
    from rankloop.connect.click_log import ROLES  # noqa: PLC0415

    table = Table("", "column", "", "what it says", box=None, title="how the columns are understood")
    for role, meaning in ROLES.items():
        column = mapped.columns.get(role, "")
        how = "" if not column else "given" if role in mapped.given else "guessed"
        table.add_row(role, escape(column) or "[dim]none", how, meaning)
    CONSOLE.print(table)
    names = ", ".join(mapped.features) or "none"
    CONSOLE.print(
        f"features: {names}. None of them may be known only after the list was shown: choose with --features",
        soft_wrap=True,
        markup=False,
    )


def _show_lists(lists: Iterator[LoggedList]) -> None:
    for each in lists:
        query = each.query or "no query"
        table = Table(
            "position", "object", "clicked", "features", box=None, title=escape(f"{query}, row {each.row}")
        )
        for position, name in enumerate(each.objects[:5], 1):
            features = each.features[position - 1] if each.features else {}
            said = ", ".join(f"{key} {value:g}" for key, value in features.items() if value is not None)
            table.add_row(f"{position}", escape(name), "yes" if name in each.clicked else "", escape(said))
        CONSOLE.print(table)
        if each.trouble:
            CONSOLE.print(f"left out: {each.trouble}", markup=False)


def _show_scan(found: Scan) -> None:
    table = Table("lists", "what becomes of them", "first in row", box=None)
    table.add_row(f"{found.lists:,}", f"can be imported, with {found.clicks:,} clicks", "")
    for reason, count in found.remarks.most_common():
        table.add_row(f"[dim]{count:,}", f"[dim]of them: {reason}", "")
    for reason, count in found.left_out.most_common():
        table.add_row(f"{count:,}", f"left out: {escape(reason)}", f"{found.first[reason]}")
    CONSOLE.print(table)
