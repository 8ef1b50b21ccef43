"""A service whose log is in PostgreSQL, and the way there and back, as a person goes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from rankloop.cli.log_commands import backup, restore
from rankloop.cli.retain import retain
from rankloop.errors import DataError, SettingError
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import StoreError
from rankloop.service.store.postgres.postgres_connections import connect
from tests.support.life import SHORT, Clock, live, make, same, state
from tests.support.limits import keep_snapshots_every
from tests.support.postgres import PASSWORD, Cluster
from tests.support.serving import Process
from tests.support.waiting import wait_until

frequent_snapshots = keep_snapshots_every(7)

LIST = {"candidates": [{"object_id": name, "features": {"bm25": float(n)}} for n, name in enumerate("abc")]}


def click(client: httpx.Client) -> str:
    query = client.post("/v1/rank", json=LIST).json()["query_id"]
    event = {"action_name": "click", "query_id": query, "event_attributes": {"object": {"object_id": "b"}}}
    receipts = client.post("/v1/events", json={"events": [event]}).json()["receipts"]
    assert receipts[0]["verdict"] == "accepted", receipts
    return str(query)


def test_a_service_on_a_database_survives_being_killed_and_keeps_the_password(
    postgres: Cluster, tmp_path: Path
) -> None:
    url = postgres.url()
    process = Process(tmp_path / "data", "--store", url).start()
    with process.client("rank") as client:
        clicked = [click(client) for _ in range(3)]
    with pytest.raises(StoreError, match="is in use by another rankloop process") as refused:
        retain(1.0, store=url)
    process.kill()
    with process:  # started again
        with process.client("admin") as client:
            for query in clicked:
                found = client.get(f"/v1/audit/{query}").json()
                assert len(found["events"]) == 1, found
        postgres.stop("immediate")
        with process.client("rank") as client:
            assert client.post("/v1/rank", json=LIST).status_code == 200  # with what it knows
            lost = client.post("/v1/events", json={"events": [{"action_name": "click", "query_id": "q"}]})
            assert lost.status_code == 503
            postgres.start()
            wait_until(lambda: "unlogged" not in client.post("/v1/rank", json=LIST).json()["provenance"])
            click(client)
        with process.client("admin") as client:
            assert client.get("/v1/health").status_code == 200  # lists can be written down again
    for said in (str(refused.value), process.printed, process.log.read_text(), lost.text):
        assert PASSWORD not in said
    assert f"its log in postgresql://anna@127.0.0.1:{postgres.port}/postgres" in process.printed
    assert not (tmp_path / "data" / "log.db").exists()


def test_a_log_moves_from_a_file_to_a_database_and_back_without_loss(
    postgres: Cluster, tmp_path: Path
) -> None:
    """The same entries, lists, weights and replays at every station; a backup adds its own decision."""
    clock = Clock()
    folder = tmp_path / "first"
    with DataDirectory(folder).open() as store:
        service = make(store, clock)
        service.create("shop", SHORT)
        lists = live(service, clock, rounds=60)
        service.set_mode("shop", "frozen")
        service.close()
    url, back = postgres.url(), tmp_path / "back"
    backup(tmp_path / "0.jsonl", data_dir=folder)
    restore(tmp_path / "0.jsonl", store=url)
    backup(tmp_path / "1.jsonl", store=url)
    restore(tmp_path / "1.jsonl", data_dir=back)
    backup(tmp_path / "2.jsonl", data_dir=back)
    zero, one, two = ((tmp_path / f"{number}.jsonl").read_text().splitlines() for number in range(3))
    assert (one[:-1], two[:-1]) == (zero, one)
    assert [json.loads(each[-1])["kind"] for each in (zero, one, two)] == ["backup"] * 3
    seen = []
    for place in (DataDirectory(folder), DataDirectory(tmp_path, url), DataDirectory(back)):
        with place.open(create=False) as store, ServiceFacade(store, clock=clock) as service:
            assert all(service.replay(each.query_id).identical for each in lists)
            assert service.mode("shop") == "frozen"
            seen.append((state(service), [each.shown for each in service.lists("shop", last=60)]))
    for weights, shown in seen[1:]:
        assert same(weights, seen[0][0])
        assert shown == seen[0][1]
    with pytest.raises(DataError, match="holds a log already: restore into a new folder or database"):
        restore(tmp_path / "0.jsonl", store=url)


def test_a_database_without_a_log_is_left_as_it_is(postgres: Cluster, tmp_path: Path) -> None:
    url = postgres.url()
    ask: list[Callable[[], None]] = [
        lambda: backup(tmp_path / "log.jsonl", store=url),
        lambda: retain(1.0, store=url),
    ]
    for each in ask:
        with pytest.raises(StoreError, match="it holds no log"):
            each()
    with connect(url) as connection:
        here = "relnamespace = current_schema()::regnamespace"
        assert connection.execute(f"SELECT count(*) FROM pg_class WHERE {here}").fetchone() == (0,)
    assert not list(tmp_path.iterdir())


def test_an_address_of_another_kind_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="postgresql://user@host") as told:
        DataDirectory(tmp_path, f"mysql://anna:{PASSWORD}@db/shop")
    assert PASSWORD not in str(told.value)
    assert PASSWORD not in repr(DataDirectory(tmp_path, f"postgresql://anna:{PASSWORD}@db/shop"))
