"""Titles are for people: on every page that names a result, and nothing is learned from them."""

from __future__ import annotations

from contextlib import closing
from html import unescape
from pathlib import Path

import pytest

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.service import UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Person, SqliteStore, Store, open_temporary_store
from tests.support.looking import signed_in, watched

COLOURS = ("blue", "red", "green", "white")


def shop(store: Store, *, titled: bool) -> ServiceFacade:
    """Visitors who take the red one; the shop shows three of four."""
    service = ServiceFacade(store, clock=lambda: 1e9)
    service.create("shop")
    for number in range(20):
        mugs = [
            Candidate(f"sku-{n}", {"red": float(name == "red")}, title=f"{name} <mug>" if titled else "")
            for n, name in enumerate(COLOURS)
        ]
        shown = service.rank(mugs, ranker="shop", k=3, user_query="mug", query_id=f"q{number}")
        service.record([UserEvent(shown.query_id, "sku-1", event_id=f"e{number}")])
        service.flush("shop")
    return service


def test_titles_change_neither_what_is_learned_nor_what_is_shown() -> None:
    with open_temporary_store() as store, open_temporary_store() as plain:
        titled, untitled = shop(store, titled=True), shop(plain, titled=False)
        for number in range(20):
            one, other = store.find_impression(f"q{number}"), plain.find_impression(f"q{number}")
            assert one is not None
            assert other is not None
            assert (one.digest, one.shown) == (other.digest, other.shown)
            assert list(one.titles) == [f"{COLOURS[int(name[-1])]} <mug>" for name in one.shown]
            assert list(other.titles) == []
            assert titled.replay(f"q{number}").identical
        assert titled.learned("shop").weights == untitled.learned("shop").weights


def test_every_page_that_names_a_result_has_its_title_beside_its_id() -> None:
    service = shop(open_temporary_store(), titled=True)
    with watched(service) as live:
        client = signed_in(live)
        for path in ("/query", "/query/q19", "/learned", "/learned/search?user_query=mug"):
            page = client.get(path, params={"ranker": "shop", "user_query": "mug"}).text
            assert '&lt;mug&gt; <span class="mono soft">(sku-' in page, path
            assert "<mug>" not in page, path
        sentence = service.explain("q19", "sku-1", "sku-0").sentence
        assert sentence.startswith("red <mug> (sku-1) stands above blue <mug> (sku-0)")
        assert sentence in unescape(client.get("/query/q19?a=sku-1&b=sku-0").text)
        told = client.get("/v1/lists", params={"ranker": "shop"}, headers=live["admin"].headers).json()
        assert (told[0]["first_clicked"], told[0]["first_title"]) == ("sku-1", "red <mug>")


def test_titles_go_with_the_lists_of_a_person_who_is_deleted(tmp_path: Path) -> None:
    def written() -> bytes:
        return b"".join(path.read_bytes() for path in tmp_path.iterdir())

    with closing(SqliteStore(tmp_path / "log.db")) as store:
        service = shop(store, titled=True)
        mug = Candidate("sku-9", title="engraved for Otto")
        service.rank([mug], ranker="shop", client_id="otto", query_id="his")
        assert list(service.audit("his").impression.titles) == ["engraved for Otto"]
        assert b"engraved for Otto" in written()
        service.delete_people([Person(client_id="otto")])
        assert b"engraved for Otto" not in written()
        assert b"red <mug>" in written()  # those of others stay


def test_a_title_that_no_store_can_keep_is_refused() -> None:
    with pytest.raises(RequestError, match="title"):
        Candidate("a", title="\0")
    with pytest.raises(RequestError, match="title"):
        Candidate("a", title="x" * 201)
