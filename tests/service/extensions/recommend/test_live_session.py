"""A live session over HTTP: an interview, lists with reasons, clicks, better lists; and all of it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankloop.client import Client, ClientError
from rankloop.recommend import save_recommender
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore
from tests.service.extensions.recommend.shop import CATALOGUE, NEWCOMERS, ROWS, Newcomer, fitted
from tests.support.serving import Live, alive

K, LISTS, CLICKS = 10, 8, 3


@dataclass
class Session:
    """A newcomer who is interviewed, looks at lists, and clicks what they like."""

    client: Client
    newcomer: Newcomer
    answers: dict[str, str] = field(default_factory=dict)
    clicked: list[str] = field(default_factory=list)

    def be_interviewed(self) -> None:
        """Nothing is kept between two questions but the answers themselves."""
        while not (found := self.client.interview(self.answers, "shop"))["done"]:
            question = found["question"]
            assert found["answered"] == len(self.answers)
            assert found["questions_left"] >= 1
            self.answers[question["question"]] = self.newcomer.answer(question["question"])
        assert len(self.answers) >= 2

    def look(self, number: int) -> tuple[dict[str, Any], float]:
        """One list: the answer, and how much of what they could have liked best they got."""
        liking, free = self.newcomer.liking(), np.ones(len(ROWS), bool)
        free[[ROWS[name] for name in self.clicked]] = False
        session = f"{self.newcomer.phone} {number}"
        shown = self.client.recommend(
            ranker="shop", answers=self.answers, items=self.clicked, k=K, session_id=session
        )
        best = np.sort(liking[free])[::-1]
        quality = float(liking[[ROWS[name] for name in shown.object_ids]].mean() / best[:K].mean())
        for name in [each for each in shown.object_ids if liking[ROWS[each]] >= best[2 * K]][:CLICKS]:
            assert self.client.click(shown, name) == "accepted"
            self.clicked.append(name)
        return dict(shown.answer), quality


@contextmanager
def serving(log: Path, model: Path | None) -> Iterator[tuple[Live, ServiceFacade]]:
    """The service as it would be started on this log."""
    with (
        SqliteStore(log) as store,
        ServiceFacade(store, recommenders={"shop": model} if model else {}) as found,
        alive(found) as live,
    ):
        yield live, found


def live_sessions(live: Live, service: ServiceFacade) -> tuple[list[dict[str, Any]], np.ndarray[Any, Any]]:
    """All newcomers look at their lists in turn; the ranker learns from everybody's clicks in between."""
    answers, qualities = [], np.zeros((len(NEWCOMERS), LISTS))
    with Client(live.url, live.keys["rank"], timeout=60) as client:
        sessions = [Session(client, each) for each in NEWCOMERS]
        for session in sessions:
            session.be_interviewed()
        for number in range(LISTS):
            for row, session in enumerate(sessions):
                answer, qualities[row, number] = session.look(number)
                answers.append(answer)
            service.flush("shop")
    return answers, qualities


def told(reasons: list[dict[str, Any]]) -> list[Any]:
    """Reasons, with numbers that another start may round otherwise in the last digits."""
    return [
        (
            each["object_id"],
            each["sentences"],
            pytest.approx(each["score"], abs=1e-12),
            [(part["kind"], part["id"], part["condition"]) for part in each["parts"]],
            pytest.approx([part["amount"] for part in each["parts"]], abs=1e-12),
        )
        for each in reasons
    ]


def plain(reasons: list[dict[str, Any]]) -> list[Any]:
    return [
        (
            each["object_id"],
            each["sentences"],
            each["score"],
            [(part["kind"], part["id"], part["condition"]) for part in each["parts"]],
            [part["amount"] for part in each["parts"]],
        )
        for each in reasons
    ]


def expect_the_past(live: Live, answers: list[dict[str, Any]]) -> None:
    """Every list is made again as it was, byte for byte, and so are its reasons."""
    for answer in answers:
        again = live["admin"].post(f"/v1/audit/{answer['query_id']}/replay").json()
        assert again["identical"]
        assert again["response"] == {name: answer[name] for name in ("query_id", "ranking", "provenance")}
        found = live["rank"].get(f"/v1/reasons/{answer['query_id']}").json()
        assert found["recommender"] == answer["recommender"]
        assert plain(found["reasons"]) == told(answer["reasons"])


def test_a_newcomer_is_interviewed_gets_reasons_clicks_and_gets_better_lists(tmp_path: Path) -> None:
    log, model, other = tmp_path / "log.db", tmp_path / "shop.npz", tmp_path / "other.npz"
    digest, another = (
        save_recommender(model, fitted("fact"), CATALOGUE),
        save_recommender(other, fitted("fact", 1), CATALOGUE),
    )
    with serving(log, model) as (live, service):
        answers, quality = live_sessions(live, service)
        assert quality[:, LISTS // 2 :].mean() > quality[:, 0].mean() + 0.05, quality.mean(axis=0)
        assert service.model("shop").lists > len(NEWCOMERS)
        for answer in answers:
            assert answer["recommender"]["digest"] == digest
            assert answer["provenance"]["fallback"] is None
            assert [each["object_id"] for each in answer["reasons"]] == [
                each["object_id"] for each in answer["ranking"]
            ]
            assert any(each["sentences"] for each in answer["reasons"])
            for each in answer["reasons"]:
                amounts = [part["amount"] for part in each["parts"]]
                assert abs(sum(amounts) - each["score"]) < 1e-12
                assert [part["share"] * each["score"] for part in each["parts"]] == pytest.approx(amounts)
        assert {part["kind"] for part in answers[-1]["reasons"][0]["parts"]} == {"rule", "past item"}
        expect_the_past(live, answers)
        past = live["admin"].get(f"/v1/audit/{answers[-1]['query_id']}").json()
        assert past["recommended"]["digest"] == digest
        assert len(past["recommended"]["items"]) == answers[-1]["recommender"]["items"] > 0
        features = past["candidates"][0]["features"]
        assert features["recommender_score"] == pytest.approx(
            features["from_rules"] + features["from_past_items"], abs=1e-12
        )
    with serving(log, model) as (live, _):  # started again
        expect_the_past(live, answers)
    with serving(log, other) as (live, _):  # with another recommender
        for answer in answers[::7]:
            assert live["admin"].post(f"/v1/audit/{answer['query_id']}/replay").json()["identical"]
            refused = live["rank"].get(f"/v1/reasons/{answer['query_id']}")
            assert refused.status_code == 404
            assert digest in refused.json()["error"]
            assert another in refused.json()["error"]
    with serving(log, None) as (live, service):  # with none
        refused = live["rank"].get(f"/v1/reasons/{answers[0]['query_id']}")
        assert (refused.status_code, digest in refused.json()["error"]) == (404, True)
        assert "has no recommender" in refused.json()["error"]
        assert service.replay(answers[0]["query_id"]).identical


def test_a_service_that_is_gone_has_no_recommendation() -> None:
    with (
        Client("http://127.0.0.1:9", "a key", retries=0) as client,
        pytest.raises(ClientError, match="answer"),
    ):
        client.recommend(user="anna")
