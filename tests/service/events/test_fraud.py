"""One address or client teaches only so much; what it has taught can be seen, and taken back in one call."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.service import ClientLimit, RankerSettings, UserEvent
from rankloop.service.events.event_selection import EventSelection
from rankloop.service.events.event_sources import SourceHash
from rankloop.service.events.unmatched_events import AT_ONCE, PER_LIST, UnmatchedEventBudget
from rankloop.service.http import HttpSettings
from rankloop.service.reports.service_facts import doctor
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store, open_temporary_store
from tests.support.plain import plain_fold
from tests.support.serving import Live, alive, click

MUGS = [
    Candidate("mug", {"stars": 4.5, "price": 9.0}),
    Candidate("cup", {"stars": 4.0, "price": 12.0}),
    Candidate("junk", {"stars": 1.5, "price": 30.0}),
]
UNLIMITED = RankerSettings(client_limit=ClientLimit(lists=None, repeats=None))


class Shop:
    """A shop whose visitors each come from somewhere."""

    def __init__(self, store: Store, settings: RankerSettings | None = None) -> None:
        self.now = itertools.count(1)
        numbers = itertools.count()
        self.service = ServiceFacade(
            store, clock=lambda: float(next(self.now)), ids=lambda: f"q{next(numbers)}"
        )
        self.service.create("shop", settings or RankerSettings())

    def visit(self, choice: str, source: str, *, client_id: str = "", event_id: str = "") -> str:
        """Look at a list and click; the verdict."""
        shown = self.service.rank(MUGS, ranker="shop", session_id=source)
        clicked = UserEvent(shown.query_id, choice, client_id=client_id, event_id=event_id)
        return self.service.enter([clicked], source=lambda _: source).result()[0][1].verdict

    def order(self) -> list[str]:
        """What it would show without a try."""
        self.service.flush("shop")
        self.service.set_mode("shop", "frozen")
        order = self.service.rank(MUGS, ranker="shop").object_ids
        self.service.set_mode("shop", "explore")
        return list(order)

    @property
    def weights(self) -> bytes:
        self.service.flush("shop")
        state = self.service.model("shop").policy.state()
        return b"".join(state[name].tobytes() for name in sorted(state))


def attacked(settings: RankerSettings) -> tuple[list[str], list[str], Counter[str], Shop]:
    """Two hundred honest clicks, each from another address, and then a hundred from one."""
    shop = Shop(open_temporary_store(), settings)
    for visitor in range(200):
        shop.visit("mug", f"a{visitor}")
    before = shop.order()
    verdicts = Counter(shop.visit("junk", "attacker") for _ in range(100))
    return before, shop.order(), verdicts, shop


def test_a_hundred_clicks_of_one_address_do_not_overturn_what_two_hundred_have_settled() -> None:
    before, after, verdicts, shop = attacked(UNLIMITED)
    assert (before[0], after[0], verdicts) == ("mug", "junk", {"accepted": 100})  # without limits, they do
    chosen = shop.service.select_events("shop", EventSelection(source="attacker"))
    assert len(chosen) == 100
    shop.service.forget("shop", chosen)  # and are taken back in one call
    assert shop.order() == before
    before, after, verdicts, shop = attacked(RankerSettings())
    assert (before[0], after[0], verdicts) == ("mug", "mug", {"accepted": 5, "held": 95})
    found = doctor(shop.service.store, since=0, until=1e9)
    assert any("95 events were held back" in each and "attacker" in each for each in found.findings)
    assert found.sources.busiest[0] == ("attacker", 100, 95)


def test_limits_are_by_list_by_object_and_by_time() -> None:
    shop = Shop(
        open_temporary_store(), RankerSettings(client_limit=ClientLimit(lists=3, repeats=2, seconds=100.0))
    )
    assert [shop.visit("mug", "s") for _ in range(3)] == ["accepted", "accepted", "held"]
    assert [shop.visit(each, "s") for each in ("cup", "junk")] == ["accepted", "held"]  # three lists count
    assert shop.visit("mug", "t") == "accepted"  # another one
    shop.now = itertools.count(1000)
    assert shop.visit("mug", "s") == "accepted"  # that was long ago
    assert shop.visit("mug", "") == "accepted"  # nobody looked where it came from


def test_a_list_that_counts_may_get_more_actions() -> None:
    settings = RankerSettings(client_limit=ClientLimit(lists=1, repeats=1), actions={"click": 1, "cart": 1})
    shop = Shop(open_temporary_store(), settings)
    shown = shop.service.rank(MUGS, ranker="shop")
    actions = [
        UserEvent(shown.query_id, name, action) for name in ("mug", "cup") for action in ("click", "cart")
    ]
    found = shop.service.enter(actions, source=lambda _: "s").result()
    assert [receipt.verdict for _, receipt in found] == ["accepted"] * 4
    assert shop.visit("junk", "s") == "held"


def test_what_was_held_back_is_held_back_after_a_restart_and_the_weights_are_the_same(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    shop = Shop(store, RankerSettings(client_limit=ClientLimit(lists=4)))
    verdicts = [shop.visit(("mug", "cup", "junk")[n % 3], f"s{n % 2}") for n in range(20)]
    assert Counter(verdicts) == {"accepted": 8, "held": 12}
    weights = shop.weights
    store.close()
    again = SqliteStore(tmp_path / "log.db")
    with ServiceFacade(again, clock=lambda: 1e6) as service:
        state = plain_fold(service).model.policy.state()
        assert b"".join(state[name].tobytes() for name in sorted(state)) == weights
    again.close()


def test_an_id_that_another_event_had_is_seen() -> None:
    shop = Shop(open_temporary_store())
    assert shop.visit("mug", "attacker", event_id="1") == "accepted"
    assert shop.visit("cup", "victim", event_id="1") == "duplicate"
    found = doctor(shop.service.store, since=0, until=1e9)
    assert found.sources.squatted == 1
    assert any("had the id of another one" in each for each in found.findings)


def test_strays_are_written_down_only_so_often_and_can_be_deleted() -> None:
    service = ServiceFacade(open_temporary_store(), clock=lambda: 0.0)
    flood = [UserEvent("unknown", "x", event_id=str(number)) for number in range(1500)]
    verdicts = [receipt.verdict for _ in range(3) for receipt in service.record(flood)]
    assert verdicts == ["orphan"] * 4500  # all are answered
    assert len(list(service.store.read_events(None))) == AT_ONCE
    assert service.unmatched.dropped == 4500 - AT_ONCE
    assert service.discard_strays() == AT_ONCE
    assert not list(service.store.read_events(None))
    budget = UnmatchedEventBudget()
    assert sum(budget.spend(float(second)) for second in range(2000) for _ in range(10)) < 2 * AT_ONCE + 4010


@pytest.mark.parametrize(("name", "action"), [("no such mug", "click"), ("mug", "hover")])
def test_one_list_cannot_be_used_to_fill_the_disk_with_what_teaches_nothing(name: str, action: str) -> None:
    service = ServiceFacade(open_temporary_store(), clock=lambda: 0.0)
    service.create("shop")
    shown = service.rank([Candidate("mug"), Candidate("cup")], ranker="shop")
    said = [UserEvent(shown.query_id, name, event_id=str(n), action=action) for n in range(5000)]
    verdicts = {receipt.verdict for receipt in service.record(said)}
    assert verdicts <= {"not_shown", "ignored"}
    assert len(list(service.store.read_events("shop"))) == PER_LIST + AT_ONCE
    assert service.unmatched.dropped == 5000 - PER_LIST - AT_ONCE
    (told,) = service.record([UserEvent(shown.query_id, "mug")])
    assert told.verdict == "accepted"
    assert (
        len(list(service.store.read_events("shop"))) == PER_LIST + AT_ONCE + 1
    )  # what counts is always there


def test_events_are_selected_by_all_that_is_said() -> None:
    shop = Shop(open_temporary_store(), UNLIMITED)
    for number in range(4):
        shop.visit("mug", f"s{number % 2}", client_id=f"c{number // 2}", event_id=f"e{number}")
    select = shop.service.select_events
    assert select("shop", EventSelection(source="s0")) == ["e0", "e2"]
    assert select("shop", EventSelection(client_id="c1")) == ["e2", "e3"]
    assert select("shop", EventSelection(client_id="c1", source="s0")) == ["e2"]
    at = next(each.at for each in shop.service.store.read_events("shop") if each.event_id == "e2")
    assert select("shop", EventSelection(since=at)) == ["e2", "e3"]
    assert select("shop", EventSelection(until=at)) == ["e0", "e1"]
    for nothing in (EventSelection(), EventSelection(client_id="nobody")):
        with pytest.raises(RequestError):
            select("shop", nothing)


@pytest.fixture
def live() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default", RankerSettings(client_limit=ClientLimit(lists=2)))
    with alive(service, HttpSettings(deadline=30.0, patience=60.0, proxies=("127.0.0.1",))) as found:
        yield found


def sent(live: Live, key: str, address: str = "", **more: str) -> str:
    """A list, and a click on it from an address; the verdict."""
    body = {"candidates": [{"object_id": each.object_id, "features": {"x": 1}} for each in MUGS]}
    shown = live["rank"].post("/v1/rank", json=body).json()
    headers = {"X-Forwarded-For": address} if address else {}
    events = {"events": [click(shown["query_id"], "mug", **more)]}
    return str(live[key].post("/v1/events", json=events, headers=headers).json()["receipts"][0]["verdict"])


def test_over_http_pages_are_told_apart_by_address_and_servers_clients_by_id(live: Live) -> None:
    assert [sent(live, "page", "192.0.2.7") for _ in range(3)] == ["accepted", "accepted", "held"]
    assert sent(live, "page", "192.0.2.8") == "accepted"
    assert [sent(live, "page") for _ in range(3)] == ["accepted"] * 3  # this machine itself
    assert [sent(live, "rank", "192.0.2.9", client_id="c1") for _ in range(3)] == [
        "accepted",
        "accepted",
        "held",
    ]
    assert [sent(live, "rank", "192.0.2.9") for _ in range(3)] == ["accepted"] * 3
    events = list(live.context.service.store.read_events(None))
    assert not [each for each in events if "192.0.2" in repr(each)]  # no address is stored
    diagnosis = live["admin"].get("/v1/doctor").json()
    assert diagnosis["tally"]["verdicts"]["held"] == 2
    assert diagnosis["sources"]["sources"] == 3
    version = live["admin"].post("/v1/forget", json={"address": "192.0.2.7"})
    assert version.status_code in (200, 202), version.text
    assert live["admin"].post("/v1/forget", json={"address": "192.0.2.77"}).status_code == 400
    live["page"].post("/v1/events", json={"events": [click("unknown", "mug")]})
    assert live["page"].delete("/v1/events/strays").status_code == 403
    assert live["admin"].delete("/v1/events/strays").json() == {"events": 1}


def test_the_key_of_the_hashes_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "source.key"
    first, second = SourceHash.of(path), SourceHash.of(path)
    assert first.address("192.0.2.7") == second.address("192.0.2.7")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["source.key"]
