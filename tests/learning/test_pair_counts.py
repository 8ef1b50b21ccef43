"""Flat arrays of pairwise statistics: each query finds its part, whatever was met before."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankloop.learning.pair_counts import Layout, add_query, move_values
from rankloop.policies import TopRank
from rankloop.types import Feedback, Query

NOTHING = Layout(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint64))


def query(number: int, documents: range | list[int]) -> Query:
    return Query(f"q{number}", np.empty((len(documents), 0)), tuple(f"d{each}" for each in documents))


@given(st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 5), min_size=1)), max_size=12))
def test_what_is_noted_of_a_query_is_found_again_after_all_others(meets: list[tuple[int, set[int]]]) -> None:
    layout, documents, pairs = NOTHING, np.empty(0), np.empty(0)
    notes: dict[int, dict[int, int]] = {}
    for turn, (number, asked) in enumerate(meets, start=1):
        before, layout = layout, add_query(layout, query(number, sorted(asked)))
        documents, pairs = (
            move_values(values, before, layout, power=power) for values, power in ((documents, 1), (pairs, 2))
        )
        at, rows = layout.find(query(number, [0])), layout.rows(query(number, sorted(asked)))
        size = int(layout.sizes[at])
        documents[layout.documents_of(at)][rows] = turn
        pairs[layout.pairs_of(at)].reshape(size, size)[rows[:, None], rows] = turn
        notes.setdefault(number, {}).update(dict.fromkeys(asked, turn))
    for number, known in notes.items():
        at, names = layout.find(query(number, [0])), sorted(known)
        rows, size = layout.rows(query(number, names)), int(layout.sizes[at])
        assert documents[layout.documents_of(at)][rows].tolist() == [known[name] for name in names]
        square = pairs[layout.pairs_of(at)].reshape(size, size)
        assert square[rows, rows].tolist() == [known[name] for name in names]
    assert layout.find(query(99, [0])) == -1


class Counted(np.ndarray):
    """An array that counts the elements that anybody reads of it."""

    read: ClassVar[int] = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(plain, inputs), **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(*map(plain, args), **options)

    def tolist(self) -> Any:
        return plain(self).tolist()

    def cumsum(self, *args: Any, **options: Any) -> Any:
        return plain(self).cumsum(*args, **options)

    def sum(self, *args: Any, **options: Any) -> Any:
        return plain(self).sum(*args, **options)

    def copy(self, *args: Any, **options: Any) -> Any:
        return plain(self).copy(*args, **options)


def plain(value: Any) -> Any:
    if isinstance(value, Counted):
        Counted.read += value.size
        return value.view(np.ndarray)
    return value


def read_in_a_round(queries: int) -> int:
    """How many entries of the layout a list and its click read, once so many queries were met."""
    policy, rng = TopRank(), np.random.default_rng(0)

    def go_on(number: int) -> None:
        ranking = policy.rank(query(number, range(4)), k=2, rng=rng)
        policy.learn(Feedback(ranking, np.array([True, False])))
        policy.score(ranking.query)

    for number in range(queries):
        go_on(number)
    for name in ("queries", "sizes", "documents"):
        setattr(policy, name, getattr(policy, name).view(Counted))
    go_on(0)  # offsets of these arrays are computed
    assert Counted.read >= queries, "the counter counts"
    Counted.read = 0
    go_on(queries // 2)
    return Counted.read


def test_a_round_reads_as_much_after_many_queries_as_after_few() -> None:
    assert read_in_a_round(10) == read_in_a_round(80)
