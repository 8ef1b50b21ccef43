"""What another policy would have got: from a ranker's own lists, or no answer where they cannot tell."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from rankloop.candidate import Candidate
from rankloop.cli import app
from rankloop.cli.service_log import log_of
from rankloop.client import Client
from rankloop.errors import DataError, SettingError
from rankloop.evaluation import NoSupport
from rankloop.policies import DBGD, MGD, PDGD, PairRank, Policy, Random
from rankloop.service import GuardrailSettings, RankerSettings, TrialSettings, UserEvent
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store, open_temporary_store
from rankloop.types import FloatArray, Query
from tests.support.life import Clock, make
from tests.support.serving import alive

RATES = np.array([0.1, 0.2, 0.4, 0.8])  # of a click, by how good a mug is


def visited(
    store: Store, policy: Policy, *, visits: int = 400, k: int = 2, **rules: object
) -> tuple[ServiceFacade, Clock]:
    """Visitors who read from the top and stop at a click; mugs of four grades in random order."""
    clock, rng = Clock(), np.random.default_rng(7)
    service = make(store, clock)
    service.create("shop", RankerSettings(policy=policy, window=10, **rules))  # type: ignore[arg-type]
    for _ in range(visits):
        visit(service, rng, k)
        clock.now += 1
    clock.now += 60
    return service, clock


def visit(service: ServiceFacade, rng: np.random.Generator, k: int = 2) -> None:
    good = rng.permutation(4)
    mugs = [Candidate(f"m{row}", {"good": float(good[row]), "noise": rng.random()}) for row in range(4)]
    shown = service.rank(mugs, ranker="shop", k=k)
    for name in shown.object_ids:
        if rng.random() < RATES[good[int(name[1:])]]:
            service.record([UserEvent(shown.query_id, name)])
            break


class Knowing(Random):
    """Shows what is good first, if it does not explore."""

    def score(self, query: Query) -> FloatArray:
        return query.features[:, 0]


def test_the_estimate_is_what_the_best_order_gets() -> None:
    service, _ = visited(open_temporary_store(), Random(), visits=800)
    for depth, truth in ((1, RATES[3]), (2, RATES[3] + (1 - RATES[3]) * RATES[2])):
        found = service.what_if("shop", Knowing(), depth=depth)
        assert (found.lists, found.depth) == (400, depth)
        assert found.estimates[0].value == pytest.approx(truth, abs=0.3)
        for each in found.estimates[1:]:
            assert each.lower < truth < each.upper
    with pytest.raises(NoSupport, match="an interval needs 30: ask about fewer results"):
        service.what_if("shop", Knowing(), depth=2, share=0.9)
    learned = service.what_if("shop", PDGD(learning_rate=1.0))
    assert 150 < learned.learned < 400
    assert learned.policy == "PDGD(learning_rate=1.0)"


def test_another_ranker_is_judged_by_all_lists_and_by_its_own_names() -> None:
    service, clock = visited(open_temporary_store(), Random(), visits=200)
    service.create("other", RankerSettings(policy=PDGD(learning_rate=1.0), window=10))
    rng = np.random.default_rng(1)
    for _ in range(60):  # its first feature is another one
        mugs = [Candidate(str(row), {"new": rng.random(), "good": float(row)}) for row in range(4)]
        shown = service.rank(mugs, ranker="other")
        service.record([UserEvent(shown.query_id, "3")])
    clock.now += 60
    service.flush("other")
    found = service.what_if("shop", other="other")
    assert (found.lists, found.policy) == (200, "ranker other")
    assert found.estimates[1].lower < RATES[3] < found.estimates[1].upper
    worse = service.what_if("shop", Random(), explore=True)
    assert worse.estimates[1].value == pytest.approx(worse.logged)  # it is the policy that made the log


def test_what_the_log_cannot_tell_is_refused_plainly() -> None:
    settled, _ = visited(open_temporary_store(), PairRank(), visits=200)
    with pytest.raises(NoSupport, match="the policy may show what the log could not"):
        settled.what_if("shop", Random(), explore=True)
    other, _ = visited(open_temporary_store(), MGD(), visits=20)
    with pytest.raises(SettingError, match="MGD cannot say with which probability it shows a list"):
        other.what_if("shop", PDGD())
    service, _ = visited(open_temporary_store(), Random(), visits=20)
    with pytest.raises(SettingError, match="DBGD cannot say"):
        service.what_if("shop", DBGD(), explore=True)
    with pytest.raises(SettingError, match="share must leave lists for both parts"):
        service.what_if("shop", PDGD(), share=1.0)
    guarded, _ = visited(
        open_temporary_store(), Random(), visits=20, guardrails=GuardrailSettings(max_displacement=1)
    )
    with pytest.raises(DataError, match=r"has 0 closed lists .* others say nothing: 20 under guardrails"):
        guarded.what_if("shop", PDGD())


def test_over_http_the_answer_is_the_same_or_a_409_with_the_reason() -> None:
    service, _ = visited(open_temporary_store(), Random(), visits=300)
    with alive(service) as live, Client(live.url, live.keys["admin"], timeout=60) as client:
        found = client.what_if("shop", "PDGD(learning_rate=1.0, caller_order=0.0)")
        same = service.what_if("shop", PDGD(learning_rate=1.0, caller_order=0))
        assert found == msgspec.json.decode(msgspec.json.encode(same))
        for body, status, reason in (
            ({"policy": "PDGD()", "depth": 3}, 409, "no answer: ranker 'shop' has 0 closed lists"),
            ({"policy": "PDGD()", "other": "shop"}, 400, "one of them"),
            ({"policy": "pdg"}, 400, "did you mean 'PDGD'"),
            ({"other": "nobody"}, 400, "no ranker is called 'nobody'"),
            ({"policy": "PDGD()", "share": 1.0}, 400, "share"),
        ):
            answer = live["admin"].post("/v1/what-if", json={"ranker": "shop", **body})
            assert (answer.status_code, reason in answer.json()["error"]) == (status, True), answer.text
        assert live["rank"].post("/v1/what-if", json={"other": "shop"}).status_code == 403
        reach = ["--url", live.url, "--key", live.keys["admin"]]
        told = CliRunner().invoke(app, ["what-if", "shop", "--policy", "PDGD(learning_rate=1.0)", *reach])
        assert told.exit_code == 0, told.output
        assert "150 lists judge" in told.output


def test_lists_that_were_not_drawn_anew_are_left_out() -> None:
    service, clock = visited(open_temporary_store(), Random(), visits=300)
    mugs = [Candidate(f"m{row}", {"good": float(row)}) for row in range(4)]
    for _ in range(3):
        service.rank(mugs, ranker="shop", k=2, session_id="anna", user_query="mug")  # the same list each time
    service.rank([*mugs, Candidate("pinned", pinned_at=1)], ranker="shop", k=2)
    service.rank(mugs, ranker="shop", k=1)
    service.start_trial("shop", TrialSettings(share=0.99))
    service.rank(mugs, ranker="shop", k=2, session_id="ben")
    clock.now += 60
    service.rank(mugs, ranker="shop", k=2)
    with pytest.raises(NoSupport):
        service.what_if("shop", PDGD(), depth=2)
    assert service.what_if("shop", PDGD()).left_out == {
        "drawn before": 2,
        "with pins": 1,
        "by the other arm of a trial": 1,
        "not closed yet": 1,
    }


def test_lists_of_one_result_of_other_policies_are_no_ads() -> None:
    """They are not left out for guardrails either: nobody asked about them."""
    service, _ = visited(
        open_temporary_store(), PairRank(), visits=10, k=1, guardrails=GuardrailSettings(max_displacement=0)
    )
    with pytest.raises(DataError, match="no closed list of one ad that a policy for ads drew"):
        log_of(service, "shop")


def test_the_command_line_says_it_in_a_table(tmp_path: Path) -> None:
    with DataDirectory(tmp_path / "data").open() as store:
        service, _ = visited(store, Random(), visits=300)
        service.close()
    said = CliRunner().invoke(
        app, ["evaluate", str(tmp_path / "data"), "--ranker", "shop", "--policies", "pdgd", "--first", "1"]
    )
    assert said.exit_code == 0, said.output
    assert "150 lists judge" in said.output
    assert "pdgd" in said.output
    assert "intervals are for one look" in said.output.replace("\n", "")
    refused = CliRunner().invoke(
        app, ["evaluate", str(tmp_path / "data"), "--ranker", "shop", "--policies", "pdgd", "--first", "2"]
    )
    assert "pdgd: no answer: the log says as much" in refused.output
