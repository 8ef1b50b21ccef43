"""rankloop serve: the ranking service over HTTP, on a folder of its own."""

from __future__ import annotations

import json
import shlex
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import structs

from rankloop.cli.command_options import StoreUrl
from rankloop.cli.console import ERRORS
from rankloop.cli.own_policies import read_served_policy
from rankloop.cli.settings_sources import Config, PrintConfig, effective
from rankloop.errors import SettingError

if TYPE_CHECKING:  # so that the other commands do not load a web server
    from rankloop.recommend import FittedRecommender
    from rankloop.service import RecommenderInfo
    from rankloop.service.http import HttpSettings
    from rankloop.service.http.alerts import Webhook
    from rankloop.service.operations.api_keys import Scope
    from rankloop.service.operations.data_directory import DataDirectory
    from rankloop.service.service_facade import ServiceFacade

EXAMPLE = {
    "user_query": "json parser",
    "session_id": "s1",
    "candidates": [
        {"object_id": "orjson", "features": {"bm25": 7.1, "age_days": 30}},
        {"object_id": "msgspec", "features": {"bm25": 6.4, "age_days": 12}},
        {"object_id": "simplejson", "features": {"bm25": 6.9, "age_days": 400}},
    ],
}
DataDir = Annotated[Path, typer.Option(help="The folder that holds the log.")]


def serve(
    context: typer.Context,
    config: Config = None,
    print_config: PrintConfig = False,
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
    policy: Annotated[str, typer.Option(help="Its policy; see `rankloop lab list`.")] = "",
    window: Annotated[float | None, typer.Option(help="Seconds in which its lists take clicks.")] = None,
    recommender: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of `rankloop lab recommend fit` that feeds a ranker: shop=shop.npz; repeatable."
        ),
    ] = None,
    new_keys: Annotated[
        bool, typer.Option("--new-keys", help="Make new keys; the old ones stop working.")
    ] = False,
    deadline: Annotated[
        float, typer.Option(help="Seconds an answer may take; after that it is the caller's own order.")
    ] = 0.1,
    max_body: Annotated[int, typer.Option(help="Bytes that a request may have.")] = 8_000_000,
    origins: Annotated[
        str, typer.Option(help="Web sites whose scripts may read answers (CORS), comma-separated.")
    ] = "",
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=64, help="Processes that answer on this port, on one log; each limits for itself."
        ),
    ] = 1,
    keep_days: Annotated[
        float, typer.Option(min=0, help="Discard what is older by itself, as `rankloop retain`; 0: never.")
    ] = 0.0,
    keep_gigabytes: Annotated[
        float, typer.Option(min=0, help="Discard the oldest while the log is larger; 0: never.")
    ] = 0.0,
    durable_lists: Annotated[
        bool,
        typer.Option(
            "--durable-lists",
            help="Answer when the list is on the disk; otherwise it is written a moment later.",
        ),
    ] = False,
    proxies: Annotated[
        str,
        typer.Option(
            help="Proxies (addresses, networks) whose word on a client's address is taken, comma-separated."
        ),
    ] = "",
    address_rate: Annotated[
        float,
        typer.Option(
            help="Events per second from one address with the page key, by each process; 0: no limit."
        ),
    ] = 50.0,
    request_rate: Annotated[
        float,
        typer.Option(
            help="Requests per second from one address with the page key or none, by each process; 0: any."
        ),
    ] = 100.0,
    page_rate: Annotated[
        float,
        typer.Option(
            help="Events per second with one page key, from everywhere, by each process; 0: no limit."
        ),
    ] = 1000.0,
    key_rate: Annotated[
        float, typer.Option(help="Events per second with one other key, by each process; 0: no limit.")
    ] = 0.0,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Connections at once, of each process; half of them without a key.")
    ] = 1000,
    drain: Annotated[
        float, typer.Option(help="Seconds from SIGTERM to the end in which it answers and is not ready.")
    ] = 0.0,
    alert_url: Annotated[
        str,
        typer.Option(help="Where the doctor's findings are posted as JSON: once each, and when over."),
    ] = "",
    alert_secret_file: Annotated[
        Path | None, typer.Option(help="A file with a secret, by which alerts are signed (HMAC-SHA256).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log only what goes wrong.")] = False,
) -> None:
    """Serve rankings over HTTP, and learn from the clicks on them.

    Keys are made at the first start and shown once. Ctrl-C or SIGTERM ends it: requests under way are
    finished, everything is kept.

    For example:

    `rankloop serve`

    `rankloop serve --port 9000 --data-dir /var/lib/rankloop --policy pairrank --deadline 0.05`

    `rankloop serve --store postgresql://rankloop@db.example:5432/shop --data-dir /etc/rankloop`

    `rankloop serve --ranker shop --policy "PDGD(learning_rate=0.01)" --origins https://shop.example`

    `rankloop serve --recommender shop=shop.npz`

    `rankloop serve --alert-url https://alerts.example/rankloop --alert-secret-file /etc/rankloop/secret`

    `rankloop serve --config /etc/rankloop.toml --print-config`
    """
    if print_config:
        typer.echo(effective(context))
        return
    del config  # the other options have taken it in
    from rankloop.service.http import HttpSettings, bind  # noqa: PLC0415
    from rankloop.service.http.worker_processes import work_together  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415

    recommenders(recommender or [])  # one that cannot be read is an error before anything is started
    allowed = tuple(part.strip() for part in origins.split(",") if part.strip())
    settings = HttpSettings(
        deadline=deadline,
        max_body=max_body,
        origins=allowed,
        proxies=tuple(part.strip() for part in proxies.split(",") if part.strip()),
        address_rate=address_rate,
        request_rate=request_rate,
        page_rate=page_rate,
        key_rate=key_rate,
        max_connections=max_connections,
        durable_lists=durable_lists,
        drain=drain,
    )
    directory = DataDirectory(data_dir, store)
    post = Post(
        directory,
        settings,
        ranker,
        policy,
        window,
        tuple(recommender or ()),
        quiet,
        worker=workers > 1,
        keep_days=keep_days,
        keep_gigabytes=keep_gigabytes,
        alert_url=alert_url,
        alert_secret_file=alert_secret_file,
    )
    post.webhook()  # one that is no address is an error before anything is started
    with bind(host, port) as listening:
        say = partial(announce, address(listening), directory.name, ranker, taken=port is None)
        if workers > 1:
            with directory.held():
                shown = post.prepare(new_keys)
                work_together(post.work, listening, workers, partial(say, shown, workers=workers))
        else:
            post.serve(listening, say, new_keys=new_keys)
    typer.echo("stopped: everything is kept")


@dataclass(frozen=True)
class Post:
    """What a process that serves has to know; a value that can be sent to another process."""

    directory: DataDirectory
    settings: HttpSettings
    ranker: str
    policy: str
    window: float | None
    recommenders: tuple[str, ...]
    quiet: bool
    worker: bool  # one of several on this machine
    keep_days: float = 0.0
    keep_gigabytes: float = 0.0
    alert_url: str = ""
    alert_secret_file: Path | None = None

    def webhook(self) -> Webhook | None:
        """Where alerts go to, if anywhere."""
        from rankloop.service.http.alerts import Webhook  # noqa: PLC0415

        if not self.alert_url:
            return None
        try:
            secret = self.alert_secret_file.read_text().strip() if self.alert_secret_file else ""
        except OSError as error:
            raise SettingError(f"{self.alert_secret_file} cannot be read: {error.strerror}") from error
        return Webhook(self.alert_url, secret)

    def prepare(self, new_keys: bool) -> Mapping[Scope, str]:
        """Make what all workers rely on: the log with its ranker, and the keys; those that are new."""
        from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

        with self.directory.join(worker=True) as log, ServiceFacade(log.store, clock=log.clock) as service:
            begin(service, self.ranker, self.policy, self.window)
            return service.keys.begin(fresh=new_keys)

    def work(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """Serve as one of several workers."""
        self.serve(listening, lambda *_: ready())

    def serve(self, listening: socket.socket, say: Callable[..., None], *, new_keys: bool = False) -> None:
        """Serve until SIGTERM or Ctrl-C; `say` is called with new keys and recommenders when it answers."""
        from rankloop.service.events.event_sources import SourceHash  # noqa: PLC0415
        from rankloop.service.http import AppContext  # noqa: PLC0415
        from rankloop.service.http import serve as answer  # noqa: PLC0415
        from rankloop.service.http.access_log import log_to_stderr  # noqa: PLC0415
        from rankloop.service.http.alerts import AlertThread  # noqa: PLC0415
        from rankloop.service.operations.retention import RetentionSettings  # noqa: PLC0415
        from rankloop.service.pages import page_routes  # noqa: PLC0415
        from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

        with (
            self.directory.join(worker=self.worker) as log,
            ServiceFacade(
                log.store,
                clock=log.clock,
                election=log.election,
                background=True,
                wait=False,
                retention=RetentionSettings(days=self.keep_days, gigabytes=self.keep_gigabytes),
            ) as service,
        ):
            log.listen(partial(service.learn, ()))
            begin(service, self.ranker, self.policy, self.window)
            for name, saved in recommenders(self.recommenders).items():
                service.feed(name, saved)
            shown = service.keys.begin(fresh=new_keys)
            log_to_stderr(quiet=self.quiet)
            sources = SourceHash.of(self.directory.path / "source.key")
            context = AppContext(
                service=service, settings=self.settings, sources=sources, routes=page_routes()
            )
            webhook = self.webhook()
            with AlertThread(service, webhook) if webhook else nullcontext():
                answer(context, listening, ready=partial(say, shown, service.recommenders()))


def begin(service: ServiceFacade, ranker: str, policy: str, window: float | None) -> None:
    """Make sure that there is a ranker; one that is there is not changed by options."""
    from rankloop.service import RankerSettings  # noqa: PLC0415

    rules = RankerSettings()
    if policy:
        rules = rules.with_policy(read_served_policy(policy))
    if window is not None:
        rules = structs.replace(rules, window=window)
    if ranker not in service.rankers():
        service.create(ranker, rules)
        return
    there = service.settings(ranker).to_json()
    asked = {"policy": bool(policy), "window": window is not None}
    for name, value in rules.to_json().items():
        if asked.get(name) and there[name] != value:
            raise SettingError(
                f"there is a ranker {ranker!r} with another {name}: start without --{name}, and change it "
                f"with PATCH /v1/rankers/{ranker}/settings"
            )


def recommenders(options: Iterable[str]) -> dict[str, FittedRecommender]:
    """Fitted recommenders by the rankers they feed, read before anything is started."""
    from rankloop.recommend import load_recommender  # noqa: PLC0415

    found: dict[str, FittedRecommender] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not (name and equals and path) or name in found:
            raise SettingError(f"--recommender is ranker=file, each ranker once, found {option!r}")
        found[name] = load_recommender(path)
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
    workers: int = 1,
) -> None:
    """Say where it is, and how to use it: three lines to copy, with the keys if they are new."""
    if taken and not url.endswith(":8000"):
        typer.echo("port 8000 is taken: here is a free one")
    crew = f" by {workers} processes" if workers > 1 else ""
    typer.echo(f"rankloop is at {url}{crew}, its log in {where}; Ctrl-C ends it")
    for each in fed:
        typer.echo(f"recommender of {each.ranker}: {each.model}, {each.items:,} items, digest {each.digest}")
    if keys:
        typer.echo("\nkeys, shown this once (kept are only their hashes):")
        for scope, key in keys.items():
            typer.echo(f"  {scope:5}  {key}")
    else:
        ERRORS.print("the keys are those there were; see `rankloop keys list` and `rankloop keys create`")
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
