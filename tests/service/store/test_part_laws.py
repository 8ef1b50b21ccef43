"""Laws of totals of parts: they are sums over the log, whatever is discarded."""

from __future__ import annotations

from msgspec import structs

from rankloop.service.extensions.fair.part import FairPart, read_account
from rankloop.service.store.impression_parts import find_lost_totals, list_totals
from rankloop.service.store.log_records import Decision
from rankloop.service.store.store import Store, Transaction, write
from tests.support.log_samples import CODEC, EXPOSURE, impression, put


def test_accounts_are_the_sums_over_the_log(store: Store) -> None:
    """By account and group, inside a transaction and after it; a job that fails adds nothing."""
    many = [impression(query_id=f"q{n}", parts={"fair": _other(n)}) for n in range(40)]
    put(store, *many[:3], impression(query_id="uncounted", parts={}))
    put(store, impression(query_id="news", ranker="news"))

    def job(transaction: Transaction) -> object:
        transaction.append_all(many[3:])
        return list(transaction.read_totals("shop"))

    def fails(transaction: Transaction) -> None:
        transaction.append(impression(query_id="never"))
        raise ZeroDivisionError

    expected = list_totals(CODEC.sum_totals(reversed(many)), "shop")
    assert write(store, job) == expected, "a job sees the accounts with what it wrote"
    store.submit(fails).exception()
    write(store, lambda transaction: transaction.append_all([many[0]]))  # refused: it was shown before
    assert list(store.read_totals("shop")) == expected, "accounts are the sums over the log"
    assert [each.amounts[0] for each in store.read_totals("news")] == [1, 1], "rankers are apart"
    (first, *_) = read_account(expected, 1)
    assert first.ahead == first.granted - first.due - first.lapsed, "what is ahead"


def test_accounts_are_carried_over_what_is_discarded(store: Store) -> None:
    """Lists that are deleted take their part along; a retain decision gives it back."""
    put(store, *(impression(query_id=f"q{n}", at=float(n), parts={"fair": _other(n)}) for n in range(6)))
    before = list(store.read_totals("shop"))
    kept = list_totals(
        CODEC.sum_totals(each for each in store.read_impressions("shop") if each.seq > 4), "shop"
    )

    def job(transaction: Transaction) -> tuple[object, object]:
        transaction.remove_before("shop", until=4, shown_before=99.0)
        after = list(transaction.read_totals("shop"))
        body = {"base": 4, "totals": find_lost_totals(before, after)}
        transaction.append(Decision(at=99.0, ranker="shop", kind="retain", body=body))
        return after, list(transaction.read_totals("shop"))

    after, again = write(store, job)
    assert after == kept, "lists that are discarded leave the accounts"
    assert again == before, "what a retain decision carries is in the accounts"
    assert list(store.read_totals("shop")) == before, "accounts are the same after retention"


def _other(number: int) -> FairPart:
    """Another exposure for each list: two accounts, three groups."""
    groups = ("a", "b") if number % 3 else ("b", "others")
    return structs.replace(
        EXPOSURE, account=1 + number % 2, groups=groups, granted=(number, 7 * number), due=(3, 4)
    )
