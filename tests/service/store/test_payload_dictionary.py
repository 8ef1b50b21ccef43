"""Dictionaries make payloads small, and hold nothing of one visitor alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.store.log_records import Impression
from rankloop.service.store.payload_codec import encode_payload
from rankloop.service.store.payload_dictionary import (
    SAMPLE,
    SIZE,
    PayloadCompressor,
    build_dictionary,
    find_agreed_values,
    find_visitors,
    measure_ratio,
)
from tests.support.log_samples import impression

WIDTH = 6
Ids = tuple[str, str, str]


def shop(lists: int, *, products: int = 300, seed: int = 0) -> list[Impression]:
    """Lists of a shop: products with features of their own, one of which changes from list to list."""
    rng = np.random.default_rng(seed)
    table = rng.random((products, WIDTH)).round(3)
    made = []
    for number in range(lists):
        rows = rng.permutation(products)[:10]
        features = table[rows]
        features[:, 0] = rng.random(10)
        made.append(
            impression(
                query_id=f"q{number}",
                client_id=f"c{rng.integers(40)}",
                session_id="",
                user="",
                object_ids=[f"sku-{row}" for row in rows],
                groups=[f"brand-{row % 7}" for row in rows],
                features=features,
                pinned_at=np.zeros(10, np.int64),
                order=np.arange(10),
                context=np.zeros(0),
                evidence={"seed": np.array(number)},
            )
        )
    return made


def seen_by(ids: Ids, features: list[list[float]], *, names: list[str], group: str) -> Impression:
    """What someone was shown."""
    client, session, user = ids
    return impression(
        client_id=client,
        session_id=session,
        user=user,
        object_ids=names,
        groups=[group] * len(names),
        features=np.array(features),
        pinned_at=np.zeros(len(names), np.int64),
        order=np.arange(len(names)),
        context=np.array([features[0][0]]),
        evidence={"seed": np.array(features[0][0])},
    )


def test_payloads_become_a_third_of_what_they_are_alone() -> None:
    lists = shop(1500)
    payloads = [encode_payload(each) for each in lists[1000:]]
    compressor = PayloadCompressor({1: build_dictionary(lists[:1000])}.__getitem__)
    alone = sum(len(compressor.compress(each)[1]) for each in payloads)
    compressor.use(1, ratio=1.0)
    together = sum(len(compressor.compress(each)[1]) for each in payloads)
    assert together < alone / 2
    assert together < sum(map(len, payloads)) / 3


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "c1", "c2"]), st.sampled_from(["", "s1"]), st.sampled_from(["", "u1"])
        ),
        min_size=2,
        max_size=6,
    )
)
def test_nothing_of_one_single_visitor_is_in_a_dictionary(ids: list[Ids]) -> None:
    """Everybody sees `shared`, with a price that all agree on, and beside it what is theirs alone."""
    own = {root: 1000.0 + root for root in visitors_of(ids)}
    lists = [
        seen_by(
            each,
            [[own[root], 0.125], [own[root], 0.125]],
            names=["shared-thing", f"private-{root}"],
            group=f"group-of-{root}",
        )
        for each, root in zip(ids, visitors_of(ids), strict=True)
    ]
    found = build_dictionary(lists)
    for root, value in own.items():
        assert f"private-{root}".encode() not in found
        assert f"group-of-{root}".encode() not in found
        assert np.float64(value).tobytes() not in found
    is_shared = len(own) > 1
    assert (b"shared-thing" in found) is is_shared
    assert (np.float64(0.125).tobytes() in found) is is_shared
    assert bool(found) is is_shared


def visitors_of(ids: list[Ids]) -> list[int]:
    """The visitor of each list."""
    return find_visitors([seen_by(each, [[0.0]], names=["a"], group="") for each in ids])


@given(st.lists(st.tuples(*[st.sampled_from(["", "1", "2", "3"])] * 3), max_size=8))
def test_visitors_are_those_that_share_no_id_even_by_others(ids: list[Ids]) -> None:
    """A plain reference: sets of ids that are joined until nothing changes."""
    sets = [{(kind, name) for kind, name in enumerate(each) if name} or {(-1, "")} for each in ids]
    for _ in ids:
        sets = [set().union(*(other for other in sets if other & each)) for each in sets]
    assert [one == other for one in sets for other in sets] == [
        one == other for one in visitors_of(ids) for other in visitors_of(ids)
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=20))
def test_values_need_two_visitors_and_the_most_of_them_win(cells: list[tuple[int, int, int]]) -> None:
    places, visitors, values = (np.array(each) for each in zip(*cells, strict=True))
    found = find_agreed_values(places, visitors, values, 4)
    for place in range(4):
        votes = {
            value: len({who for where, who, what in cells if (where, what) == (place, value)})
            for value in (1, 2, 3)
        }
        most = max(votes.values())
        assert (votes[int(found[place])] == most) if most > 1 else found[place] == 0


def test_the_commonest_candidates_stand_last_and_the_size_is_kept() -> None:
    lists = shop(1000, products=3000)
    lists += shop(300, products=10, seed=1)
    found = build_dictionary(lists, size=2000)
    assert len(found) == 2000
    assert all(f"sku-{row}".encode() in found for row in range(10))
    assert len(build_dictionary(shop(2000, products=5000))) <= SIZE


def test_a_dictionary_is_due_after_a_thousand_lists_and_when_lists_have_changed() -> None:
    lists = shop(SAMPLE)
    contents: dict[int, bytes] = {}
    compressor = PayloadCompressor(contents.__getitem__)
    for shown in lists[:-1]:
        compressor.compress(encode_payload(shown))
    assert not compressor.is_dictionary_due()
    compressor.compress(encode_payload(lists[-1]))
    assert compressor.is_dictionary_due()
    made = compressor.make_dictionary(lists)
    assert made is not None
    contents[1], ratio = made
    compressor.use(1, ratio=ratio)
    for shown in shop(SAMPLE)[::-1]:
        compressor.compress(encode_payload(shown))
    assert not compressor.is_dictionary_due(), "it does what was expected of it"
    for shown in shop(SAMPLE, seed=5):
        compressor.compress(encode_payload(shown))
    assert compressor.is_dictionary_due(), "other products with other features"


def test_a_dictionary_that_helps_little_is_not_made_and_the_next_attempt_waits() -> None:
    rng = np.random.default_rng(0)
    lists = [
        impression(features=rng.random((3, 2)), object_ids=list(rng.bytes(9).hex()[:3]))
        for _ in range(SAMPLE)
    ]
    compressor = PayloadCompressor(lambda number: b"")

    def is_due_after(times: int) -> bool:
        for _ in range(times):
            compressor.compress(b"")
        return compressor.is_dictionary_due()

    assert is_due_after(SAMPLE)
    assert compressor.make_dictionary(lists) is None
    assert not is_due_after(2 * SAMPLE - 1)
    assert is_due_after(1)


def test_lists_of_nobody_make_no_dictionary() -> None:
    lists = [impression(client_id="", session_id="", user="") for _ in range(20)]
    assert build_dictionary(lists) == b""
    assert build_dictionary([]) == b""
    assert measure_ratio(None, []) == pytest.approx(0.0)
