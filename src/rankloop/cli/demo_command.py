"""rankloop demo: a shop that learns from your clicks, in one command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankloop.cli.serve_commands import address, lines

if TYPE_CHECKING:
    from rankloop.service.operations.api_keys import Scope

YOURS = "yours"  # a ranker to try from a shell


def demo(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port (default: 8000, or a free one if that is taken)."),
    ] = None,
    data_dir: Annotated[
        Path, typer.Option(help="The folder that holds the log and the hashes of the keys.")
    ] = Path("rankloop-data/demo"),
) -> None:
    """A shop with pictures: search, click, and watch the order learn beside that of plain search.

    Recommendations with reasons are there, too. Everything is real but the goods and the crowd: the service,
    its log, its pages. What was learned is there again at the next start.

    For example:

    `rankloop demo`

    `rankloop demo --port 9000 --data-dir /tmp/demo`
    """
    from rankloop.demo.camping_shop import CampingShop  # noqa: PLC0415
    from rankloop.demo.product_scene import shop  # noqa: PLC0415
    from rankloop.demo.shop import Demo  # noqa: PLC0415
    from rankloop.demo.shop_pages import demo_routes  # noqa: PLC0415
    from rankloop.service import RankerSettings  # noqa: PLC0415
    from rankloop.service.http import AppContext, bind, serve  # noqa: PLC0415
    from rankloop.service.http.access_log import log_to_stderr  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

    directory = DataDirectory(data_dir)
    with (
        bind(host, port) as listening,
        directory.open() as store,
        ServiceFacade(store, background=True) as service,
    ):
        shown = service.keys.begin(fresh=True)
        log_to_stderr(quiet=True)
        if YOURS not in service.rankers():  # whoever changed its settings finds them as they were left
            service.create(YOURS, RankerSettings(window=30.0))
        typer.echo("fitting the recommender to its reviews ...")
        routes = demo_routes(Demo(service, shop()), camping=CampingShop(service))
        context = AppContext(service=service, routes=routes)
        serve(context, listening, ready=lambda: _announce(address(listening), shown))
    typer.echo("stopped: everything is kept")


def _announce(url: str, keys: Mapping[Scope, str]) -> None:
    typer.echo(f"\n  rankloop demo: open {url}\n")
    typer.echo("search, click, send visitors, and watch the order learn; Ctrl-C ends it")
    typer.echo(f"to change the mode or go back to a version, sign in with this key: {keys['admin']}")
    typer.echo("\nbehind it is the real service; with a ranker of your own: rank, click, explain\n")
    typer.echo("\n".join(lines(url, YOURS, keys)) + "\n")
