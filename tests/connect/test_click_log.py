"""Click logs of others: understood as they were meant, learned rightly, once, or left out with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from rankloop.candidate import Candidate
from rankloop.cli import app
from rankloop.connect.click_log import LoggedList, Row, guessed, lists_of, rows_of, scan, ubi_lists
from rankloop.errors import DataError
from rankloop.policies import MGD, PDGD, PairRank
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.operations.click_log_import import import_click_log
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Job, StoreError, TemporaryStore, Transaction, open_temporary_store

T = TypeVar("T")
HEADER = "search_term,sku,click,rank,price,color"
GOOD = ["mug,a,0,1,9.5,red", "mug,b,1,2,4,blue", "mug,c,0,3,,red", "cup,d,1,1,2,", "cup,e,0,2,3,"]


def written(folder: Path, lines: list[str], name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def understood(path: Path) -> list[object]:
    sample = [row.values for row in rows_of(path)]
    mapped = guessed(list(sample[0]), sample, {})
    return [
        (each.query, each.objects, each.clicked, each.trouble) for each in lists_of(rows_of(path), mapped)
    ]


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["import-clicks", *map(str, words)])
    return done.exit_code, " ".join((done.output + str(done.exception or "")).split())


def test_rows_become_lists_whatever_the_file_is(tmp_path: Path) -> None:
    csv = written(tmp_path, GOOD)
    expected = [("mug", ["a", "b", "c"], ["b"], ""), ("cup", ["d", "e"], ["d"], "")]
    assert understood(csv) == expected
    pl.read_csv(csv).write_parquet(tmp_path / "log.parquet")
    assert understood(tmp_path / "log.parquet") == expected
    other = tmp_path / "other.tsv"
    other.write_text("\ufeff" + csv.read_text().replace(",", "\t"), encoding="utf-8")
    assert understood(other) == expected


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["mug,a,0,1,9,", "mug,b,1,3,4,"], "positions are not 1, 2, 3"),
        (["mug,a,0,x,9,"], "a position is no whole number"),
        (["mug,a,perhaps,1,9,"], "neither yes nor no"),
        (["mug,a,1,1,9,", "mug,a,0,2,9,"], "there twice"),
        (["mug,,1,1,9,"], "has no id"),
    ],
)
def test_what_cannot_be_learned_rightly_is_left_out_with_its_row(
    tmp_path: Path, lines: list[str], reason: str
) -> None:
    path = written(tmp_path, [*GOOD, *lines])
    mapped = guessed(HEADER.split(","), [], {}, ["price"])
    found = scan(lists_of(rows_of(path), mapped))
    assert (found.lists, found.clicks) == (2, 2)
    ((said, count),) = found.left_out.items()
    assert reason in said
    assert (count, found.first[said]) == (1, 7)


def test_an_import_teaches_what_lists_shown_in_shadow_teach() -> None:
    """As in the how-to on history: the same candidates, ranked in shadow, and the same clicks."""
    rng = np.random.default_rng(3)
    history = [
        ([f"d{each}" for each in rng.permutation(9)[:5]], rng.random((5, 2)), int(rng.integers(5)))
        for _ in range(30)
    ]
    lines = ["list,object,position,clicked,x,y"]
    for number, (names, values, clicked) in enumerate(history):
        lines += [
            f"l{number},{name},{row + 1},{int(row == clicked)},{values[row, 0]},{values[row, 1]}"
            for row, name in enumerate(names)
        ]
    rows = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:]]
    keys = [each.key for each in _lists(rows)]
    for policy in (PairRank(caller_order="decent"), PDGD()):
        ours, theirs = (ServiceFacade(open_temporary_store()) for _ in range(2))
        ours.create("default", RankerSettings(policy=policy))
        theirs.create("default", RankerSettings(policy=policy), mode="shadow")
        for key, (names, values, clicked) in zip(keys, history, strict=True):
            some = [Candidate(n, {"x": v[0], "y": v[1]}) for n, v in zip(names, values.tolist(), strict=True)]
            shown = theirs.rank(some, query_id=f"imported-{key}")
            theirs.record([UserEvent(shown.query_id, names[clicked])])
        theirs.flush("default")
        done = import_click_log(ours, "default", _lists(rows))
        assert (done.lists, done.clicks, ours.model("default").lists) == (30, 30, 30)
        assert ours.mode("default") == "explore"
        found, expected = (each.model("default").policy.state() for each in (ours, theirs))
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
        last = ours.lists("default", last=1)[0]
        assert list(last.object_ids) == last.shown
        assert ours.replay(last.query_id).identical


def _lists(rows: list[dict[str, str]]) -> Iterator[LoggedList]:
    return lists_of(map(Row, range(1, 10_000), rows), guessed(list(rows[0]), rows, {"list": "list"}))


def test_a_policy_that_learns_from_its_own_lists_only_learns_nothing(tmp_path: Path) -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default", RankerSettings(policy=MGD()))
    mapped = guessed(HEADER.split(","), [], {}, ["price"])
    done = import_click_log(service, "default", lists_of(rows_of(written(tmp_path, GOOD)), mapped))
    assert (done.lists, service.model("default").lists) == (2, 0)


def test_a_preview_changes_nothing_and_an_import_counts_once(tmp_path: Path) -> None:
    log, data = written(tmp_path, [*GOOD, "tea,f,0,1,1,"]), tmp_path / "data"
    code, said = run(log, "--preview", "--data-dir", data)
    assert code == 0, said
    assert "features: price" in said
    assert "object sku guessed" in said
    assert "3 can be imported, with 2 clicks" in said
    assert "nobody clicked it" in said
    assert not data.exists()
    code, said = run(log, "--map", "object=sku,query=search_term", "--data-dir", data)
    assert "3 lists with 2 clicks imported, 0 were there already; default has learned from 2 lists" in said
    with DataDirectory(data).open() as store:
        before = (
            store.list_changed_rankers(after=0)[0],
            [each.query_id for each in store.read_impressions("default")],
        )
    assert "0 lists with 0 clicks imported, 3 were there already" in run(log, "--data-dir", data)[1]
    with DataDirectory(data).open() as store:
        assert before == (
            store.list_changed_rankers(after=0)[0],
            [each.query_id for each in store.read_impressions("default")],
        )


@pytest.mark.parametrize(
    ("lines", "words", "said"),
    [
        (["mug,a,0"], (), "line 7: expected 6 values, one for each column, found 3"),
        ([], ("--map", "objct=sku"), "nothing in a click log is called 'objct'"),
        ([], ("--map", "object=skuu"), "there is no column 'skuu'"),
        ([], ("--features", "weight"), "there is no column 'weight'"),
        (
            ["mug,b,0,1,9,"],
            ("--map", "list=search_term"),
            "row 7: the list that begins here was there before",
        ),
    ],
)
def test_mistakes_are_named_and_change_nothing(
    tmp_path: Path, lines: list[str], words: tuple[str, ...], said: str
) -> None:
    code, found = run(written(tmp_path, [*GOOD, *lines]), "--data-dir", tmp_path / "data", *words)
    assert code != 0
    assert said in found
    assert not (tmp_path / "data").exists()


class Breaks(TemporaryStore):
    """A store that fails in the middle of an import."""

    broken = False

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        def breaking(transaction: Transaction) -> T:
            done = job(transaction)
            if self.broken:
                raise StoreError("the disk is full")
            return done

        return super().submit(breaking, urgent=urgent)


def test_an_import_that_breaks_leaves_whole_lists_and_goes_on_later() -> None:
    rows = [
        {
            "list": f"l{number}",
            "object": f"d{row}",
            "position": f"{row + 1}",
            "clicked": f"{row % 2}",
            "x": "1",
        }
        for number in range(500)
        for row in range(3)
    ]
    store = Breaks()
    service = ServiceFacade(store)
    service.create("default")

    def fail(done: object) -> None:
        store.broken = True

    with pytest.raises(StoreError):
        import_click_log(service, "default", _lists(rows), look=fail)
    lists, events = list(store.read_impressions("default")), list(store.read_events("default"))
    assert (len(lists), len(events)) == (200, 200)
    store.broken = False
    done = import_click_log(service, "default", _lists(rows))
    assert (done.lists, done.known) == (300, 200)
    assert service.model("default").lists == 500


def test_ubi_dumps_are_joined(tmp_path: Path) -> None:
    queries, events, products = (tmp_path / each for each in ("queries.ndjson", "events.ndjson", "p.csv"))
    found = {"query_id": "q1", "user_query": "mug", "query_response_object_ids": ["a", "b"], "client_id": "c"}
    queries.write_text(
        json.dumps({"_id": "1", "_source": found})
        + "\n"
        + json.dumps({"query_id": "q2", "query_response_hit_ids": ["c"]})
        + "\n"
        + json.dumps({"query_id": "q3", "query_response_hit_ids": ["c", "d"]})
    )
    clicks = [("q1", "b", "click"), ("q1", "b", "click"), ("q1", "a", "hover"), ("q3", "z", "click")]
    lines = [
        {"action_name": a, "query_id": q, "event_attributes": {"object": {"object_id": o}}}
        for q, o, a in clicks
    ]
    events.write_text("".join(f'{{"index": {{}}}}\n{json.dumps(each)}\n' for each in lines))
    products.write_text("id,price\na,3\nb,4.5\n")
    first, second, third = ubi_lists(queries, events)
    assert (first.objects, first.clicked, first.client) == (["a", "b"], ["b"], "c")
    assert (second.clicked, second.trouble) == ([], "")
    assert "not among what the query found" in third.trouble
    words = (queries, "--ubi-events", events, "--object-features", products, "--data-dir", tmp_path / "data")
    assert "2 lists with 1 clicks imported" in run(*words)[1]
    with DataDirectory(tmp_path / "data").open() as store:
        assert ServiceFacade(store).schema("default") == ["price"]
    events.write_text("{")
    with pytest.raises(DataError, match="line 1: expected a JSON document"):
        list(ubi_lists(queries, events))
