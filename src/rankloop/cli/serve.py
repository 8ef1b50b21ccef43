"""rankloop serve: the ranking service over HTTP, on a folder of its own."""

from __future__ import annotations

import json
import shlex
import socket
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankloop.cli import names
from rankloop.cli.console import ERRORS
from rankloop.cli.where import StoreUrl
from rankloop.types import SettingError

if TYPE_CHECKING:  # so that the other commands do not load a web server
    from rankloop.recommend import Saved
    from rankloop.service import RankingService, RecommenderInfo
    from rankloop.service.http.keys import Scope

EXAMPLE = {
    "user_query": "json parser",
    "session_id": "s1",
    "candidates": [
        {"object_id": "orjson", "features": {"bm25": 7.1, "age_days": 30}},
        {"object_id": "msgspec", "features": {"bm25": 6.4, "age_days": 12}},
        {"object_id": "simplejson", "features": {"bm25": 6.9, "age_days": 400}},
    ],
}
DataDir = Annotated[Path, typer.Option(help="The folder that holds the log and the hashes of the keys.")]


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 is every one there is.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port (default: 8000, or a free one if that is taken)."),
    ] = None,
    data_dir: DataDir = Path("rankloop-data"),
    store: StoreUrl = "",
    ranker: Annotated[
        str, typer.Option(help="A ranker to begin with, if there is none of this name.")
    ] = "default",
    policy: Annotated[str, typer.Option(help="Its policy; see `rankloop list`.")] = "",
    window: Annotated[float | None, typer.Option(help="Seconds in which its lists take clicks.")] = None,
    recommender: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of `rankloop recommend fit` that feeds a ranker, as in shop=shop.npz; repeatable."
        ),
    ] = None,
    new_keys: Annotated[
        bool, typer.Option("--new-keys", help="Make new keys; the old ones open nothing more.")
    ] = False,
    deadline: Annotated[
        float, typer.Option(help="Seconds for a list; then the caller's own order is it.")
    ] = 0.1,
    max_body: Annotated[int, typer.Option(help="Bytes that a request may have.")] = 8_000_000,
    origins: Annotated[
        str, typer.Option(help="Web sites whose scripts may read answers (CORS), comma-separated.")
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="Log only what goes wrong.")] = False,
) -> None:
    """Serve rankings over HTTP, and learn from the clicks on them.

    Keys are made at the first start and shown once. Ctrl-C or SIGTERM ends it: requests under way are
    finished, everything is kept.

    For example:

    `rankloop serve`

    `rankloop serve --port 9000 --data-dir /var/lib/rankloop --policy pairrank --deadline 0.05`

    `rankloop serve --store postgresql://rankloop@db.example:5432/shop --data-dir /etc/rankloop`

    `rankloop serve --ranker shop --policy pdgd:learning_rate=0.01 --origins https://shop.example`

    `rankloop serve --recommender shop=shop.npz`
    """
    from rankloop.dashboard import page_routes  # noqa: PLC0415
    from rankloop.service import RankingService  # noqa: PLC0415
    from rankloop.service.data_dir import DataDirectory  # noqa: PLC0415
    from rankloop.service.http import AppContext, HttpSettings, Keys, bind  # noqa: PLC0415
    from rankloop.service.http import serve as answer  # noqa: PLC0415
    from rankloop.service.http.access_log import log_to_stderr  # noqa: PLC0415

    chosen = recommenders(recommender or [])
    allowed = tuple(part.strip() for part in origins.split(",") if part.strip())
    settings = HttpSettings(deadline=deadline, max_body=max_body, origins=allowed)
    directory = DataDirectory(data_dir, store)
    with (
        bind(host, port) as listening,
        directory.open() as log,
        RankingService(log, background=True) as service,
    ):
        begin(service, ranker, policy, window)
        for name, saved in chosen.items():
            service.feed(name, saved)
        keys, shown = Keys.of(directory.key_file, fresh=new_keys)
        log_to_stderr(quiet=quiet)
        context = AppContext(service=service, keys=keys, settings=settings, routes=page_routes())
        url = address(listening)
        fed = service.recommenders()
        ready = partial(announce, url, directory.name, ranker, shown, fed, taken=port is None)
        answer(context, listening, ready=ready)
    typer.echo("stopped: everything is kept")


def begin(service: RankingService, ranker: str, policy: str, window: float | None) -> None:
    """Make sure that there is a ranker; one that is there is not changed by options."""
    from rankloop.service import RankerSettings  # noqa: PLC0415
    from rankloop.service.settings import trusting  # noqa: PLC0415

    named = names.policy(policy) if policy else None
    wanted = {} if named is None else {"policy": named if "@" in policy else trusting(named)}
    rules = RankerSettings(**wanted, **({} if window is None else {"window": window}))  # type: ignore[arg-type]
    if ranker not in service.rankers():
        service.create(ranker, rules)
        return
    there = service.settings(ranker).to_json()
    asked = {"policy": bool(policy), "window": window is not None}
    for name, value in rules.to_json().items():
        if asked.get(name) and there[name] != value:
            raise SettingError(
                f"there is a ranker {ranker!r} with another {name}: start without --{name}, and change it "
                f"with PUT /v1/rankers/{ranker}/settings"
            )


def recommenders(options: Iterable[str]) -> dict[str, Saved]:
    """Fitted recommenders by the rankers they feed, read before anything is started."""
    from rankloop.recommend import load  # noqa: PLC0415

    found: dict[str, Saved] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not (name and equals and path) or name in found:
            raise SettingError(f"--recommender is ranker=file, each ranker once, found {option!r}")
        found[name] = load(path)
    return found


def address(listening: socket.socket) -> str:
    """Where the service is."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def announce(
    url: str,
    where: str,
    ranker: str,
    keys: Mapping[Scope, str],
    fed: Iterable[RecommenderInfo] = (),
    *,
    taken: bool,
) -> None:
    """Say where it is, and how to use it: three lines to copy, with the keys if they are new."""
    if taken and not url.endswith(":8000"):
        typer.echo("port 8000 is taken: here is a free one")
    typer.echo(f"rankloop is at {url}, its log in {where}; Ctrl-C ends it")
    for each in fed:
        typer.echo(f"recommender of {each.ranker}: {each.model}, {each.items:,} items, digest {each.digest}")
    if keys:
        typer.echo("\nkeys, shown this once (kept are only their hashes):")
        for scope, key in keys.items():
            typer.echo(f"  {scope:5}  {key}")
    else:
        ERRORS.print("the keys are those of the first start; `--new-keys` makes others")
    shown: Mapping[Scope, str] = keys or {"page": "$PAGE_KEY", "rank": "$RANK_KEY", "admin": "$ADMIN_KEY"}
    typer.echo("\n" + "\n".join(lines(url, ranker, shown)) + "\n")


def lines(url: str, ranker: str, keys: Mapping[Scope, str]) -> list[str]:
    """Rank, click and explain as commands for a shell; the second and third use what the first one found."""
    body = json.dumps({"ranker": ranker, **EXAMPLE})
    event = {
        "action_name": "click",
        "query_id": "'$QUERY'",
        "event_attributes": {"object": {"object_id": "msgspec"}},
    }
    clicked = json.dumps({"events": [event]})
    return [
        f'LIST=$(curl -s {url}/v1/rank -H {_header(keys["rank"])} -d {shlex.quote(body)}); echo "$LIST"',
        f'QUERY=$(echo "$LIST" | cut -d \'"\' -f 4); curl -s {url}/v1/events -H {_header(keys["rank"])} '
        f"-d '{clicked}'; echo",
        f'curl -s "{url}/v1/explain/$QUERY?a=msgspec&b=orjson" -H {_header(keys["admin"])}; echo',
    ]


def _header(key: str) -> str:
    return f'"Authorization: Bearer {key}"'
