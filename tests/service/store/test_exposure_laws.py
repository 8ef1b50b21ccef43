"""Laws of exposure: accounts are sums over the log, whatever is discarded, and tallies add up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rankloop.service.store.exposure import carried, rows_of, sums_of
from rankloop.service.store.log_records import Decision, Exposure, GroupTally
from rankloop.service.store.store import Store, Transaction, write
from tests.support.log_samples import EXPOSURE, event, impression, put


def test_accounts_are_the_sums_over_the_log(store: Store) -> None:
    """By account and group, inside a transaction and after it; a job that fails adds nothing."""
    many = [impression(query_id=f"q{n}", exposure=_other(n)) for n in range(40)]
    put(store, *many[:3], impression(query_id="uncounted", exposure=None))
    put(store, impression(query_id="news", ranker="news"))

    def job(transaction: Transaction) -> object:
        transaction.append_all(many[3:])
        return list(transaction.read_totals("shop"))

    def fails(transaction: Transaction) -> None:
        transaction.append(impression(query_id="never"))
        raise ZeroDivisionError

    expected = rows_of(sums_of(reversed(many)), "shop")
    assert write(store, job) == expected, "a job sees the accounts with what it wrote"
    store.submit(fails).exception()
    write(store, lambda transaction: transaction.append_all([many[0]]))  # refused: it was shown before
    assert list(store.read_totals("shop")) == expected, "accounts are the sums over the log"
    assert [each.lists for each in store.read_totals("news")] == [1, 1], "rankers are apart"
    assert all(each.ahead == each.granted - each.due - each.lapsed for each in expected), "what is ahead"


def test_accounts_are_carried_over_what_is_discarded(store: Store) -> None:
    """Lists that are deleted take their part along; a retain decision gives it back."""
    put(store, *(impression(query_id=f"q{n}", at=float(n), exposure=_other(n)) for n in range(6)))
    before = list(store.read_totals("shop"))
    kept = rows_of(sums_of(each for each in store.read_impressions("shop") if each.seq > 4), "shop")

    def job(transaction: Transaction) -> tuple[object, object]:
        transaction.remove_before("shop", until=4, shown_before=99.0)
        after = list(transaction.read_totals("shop"))
        body = {"base": 4, "exposure": carried(before, after)}
        transaction.append(Decision(at=99.0, ranker="shop", kind="retain", body=body))
        return after, list(transaction.read_totals("shop"))

    after, again = write(store, job)
    assert after == kept, "lists that are discarded leave the accounts"
    assert again == before, "what a retain decision carries is in the accounts"
    assert list(store.read_totals("shop")) == before, "accounts are the same after retention"


def test_exposure_is_tallied(store: Store) -> None:
    """By steps of time and by query; of clicks, every result counts once."""
    held = replace(EXPOSURE, within=True, turned=3)
    put(
        store,
        impression(query_id="q1", at=0.0, user_query="a"),
        impression(query_id="q2", at=5.0, user_query="b", exposure=held),
        impression(query_id="q3", at=25.0, user_query="b", exposure=replace(held, within=None, turned=0)),
        impression(query_id="q4", at=26.0, exposure=None),
        event(event_id="e1", list_seq=1, position=2),
        event(event_id="e2", list_seq=1, position=2, verdict="late", action="buy"),
        event(event_id="e3", list_seq=2, position=1),
        event(event_id="e4", list_seq=3, position=1, verdict="ignored"),
    )
    first, third = store.exposure("shop", since=0.0, until=30.0, step=10.0)
    sums = (first.start, first.lists, first.held, first.outside, first.turned, first.undone)
    assert sums == (0.0, 2, 2, 1, 4, 10), "lists in a step of time are counted"
    sums = (third.start, third.lists, third.held, third.outside, third.turned, third.undone)
    assert sums == (20.0, 1, 0, 0, 0, 5), "lists that are only counted are held to nothing"
    others, ours = first.groups
    expected = GroupTally(
        group="ü", lists=2, candidates=4, results=2, granted=2_000_000, due=1_800_000, clicks=1
    )
    assert ours == expected, "exposure is summed by group"
    assert (others.group, others.results, others.clicks) == ("others", 2, 1), "groups come by name"
    assert (ours.lapsed, others.lapsed) == (0, -2), "what lapsed is summed by group"
    assert list(store.exposure("other", since=0.0, until=30.0, step=10.0)) == [], "rankers are apart"


def test_accounts_are_tallied_in_parts(store: Store) -> None:
    """Of equally many lists of one account; parts add up to what is ahead in it."""
    put(store, *(impression(query_id=f"q{n}", at=float(n), exposure=_other(n)) for n in range(23)))
    put(store, event(event_id="e1", list_seq=2, position=2))
    tallied = partial(store.exposure_in_parts, "shop", since=0.0, until=23.0)
    parts = tallied(account=2, parts=3)
    assert [(each.start, each.lists) for each in parts] == [(1.0, 4), (9.0, 4), (17.0, 3)], "parts of lists"
    changes = {(n, each.group): each for n, part in enumerate(parts) for each in part.groups}
    for total in (each for each in store.read_totals("shop") if each.account == 2):
        mine = [each for (_, group), each in changes.items() if group == total.group]
        change = sum(each.granted - each.due - each.lapsed for each in mine)
        assert change == total.ahead, "parts add up to the account"
    assert [sum(each.clicks for each in part.groups) for part in parts] == [1, 0, 0], "clicks of a part"
    assert len(tallied(account=2, parts=9, least=5)) == 2, "no part is too small"
    assert list(tallied(account=3, parts=3)) == [], "accounts are apart"


def _other(number: int) -> Exposure:
    """Another exposure for each list: two accounts, three groups."""
    groups = ("a", "b") if number % 3 else ("b", "others")
    return replace(EXPOSURE, account=1 + number % 2, groups=groups, granted=(number, 7 * number), due=(3, 4))
