"""A policy that obeys the laws can be served: new features and lists of others do it no harm."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.checks import check_policy
from rankloop.errors import SettingError
from rankloop.lab.baselines import OfflineRankNet
from rankloop.policies import PDGD, AdForest, OlRankNet, Policy
from rankloop.scorers import MLP
from rankloop.service import GradeSettings, GuardrailSettings, RankerSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.internals import ignored
from tests.support.life import make, some_candidates, state
from tests.support.own_policies import Positional, Remembering, documented


def serve(policy: Policy, **rules: object) -> ServiceFacade:
    service = make(open_temporary_store(), policies=[type(policy)])
    service.create("shop", structs.replace(RankerSettings(policy=policy), **rules))
    return service


def teach(service: ServiceFacade, *, lists: int, names: tuple[str, ...], seed: int = 0) -> None:
    """Users who want the most of the last feature."""
    rng = np.random.default_rng(seed)
    for _ in range(lists):
        candidates = some_candidates(rng, 6, names)
        shown = service.rank(candidates, ranker="shop", k=6)
        assert shown.provenance.fallback is None, shown.provenance.fallback
        best = max(candidates, key=lambda each: each.features[names[-1]] or 0.0)
        service.record([UserEvent(shown.query_id, best.object_id)])
        service.flush("shop")


# features that appear later


def test_a_row_of_numbers_that_is_called_history_is_no_trouble_when_a_feature_appears() -> None:
    check_policy(Remembering)
    service = serve(Remembering())
    teach(service, lists=5, names=("age", "bm25"))
    assert state(service)["history"].shape == (5,)
    known = service.model("shop").lists
    teach(service, lists=5, names=("age", "bm25", "new"))  # asserts that there is no fallback
    assert service.model("shop").lists == known + 5
    shown = service.rank(
        [Candidate("low", {"bm25": 0.0, "new": 1.0}), Candidate("high", {"bm25": 1.0, "new": 0.0})],
        ranker="shop",
    )
    assert shown.provenance.fallback is None
    assert shown.object_ids == ["high", "low"], "what it learned before is still there"


@pytest.mark.parametrize(
    "policy",
    [documented("Rocchio")(), OlRankNet(scorer=MLP(4), learning_rate=0.01)],
    ids=["the documented own policy", "olranknet"],
)
@pytest.mark.parametrize("scaling", ["query", "running"])
def test_a_feature_that_appears_later_is_learned_or_said_to_be_ignored(policy: Policy, scaling: str) -> None:
    service = serve(policy, scaling=scaling)
    teach(service, lists=10, names=("age", "bm25"))
    assert ignored(service) == ()
    teach(service, lists=20, names=("age", "bm25", "new"))
    service.set_mode("shop", "exploit")
    alike = {"age": 0.5, "bm25": 0.5}
    first, second = service.rank(
        [Candidate("much", {**alike, "new": 1.0}), Candidate("little", {**alike, "new": 0.0})], ranker="shop"
    ).ranking
    learned = not np.isclose(first.score, second.score, rtol=1e-5, atol=1e-6)  # above rounding
    said = ignored(service)
    assert learned or said == ("new",), "the new feature is neither learned nor said to be ignored"
    assert not (learned and said), "a feature that was learned is said to be ignored"


def test_a_policy_that_takes_new_features_ignores_none() -> None:
    service = serve(PDGD())
    teach(service, lists=5, names=("age", "bm25"))
    teach(service, lists=5, names=("age", "bm25", "new"))
    assert state(service)["parameters"].shape == (3,)
    assert ignored(service) == ()


# lists that the policy did not draw


def test_evidence_about_positions_teaches_when_the_list_is_the_one_that_was_drawn() -> None:
    service = serve(Positional())
    teach(service, lists=10, names=("age", "bm25"))
    assert {name: int(value) for name, value in state(service).items()} == {"right": 10, "wrong": 0}


def test_evidence_about_positions_is_not_taught_from_a_list_that_guardrails_have_changed() -> None:
    service = serve(Positional(), guardrails=GuardrailSettings(max_displacement=1))
    teach(service, lists=10, names=("age", "bm25"))
    assert int(state(service)["wrong"]) == 0


@pytest.mark.parametrize("mode", ["exploit", "shadow"])
def test_evidence_about_positions_is_not_taught_from_a_list_that_follows_the_scores_or_the_caller(
    mode: str,
) -> None:
    service = serve(Positional())
    service.set_mode("shop", mode)  # type: ignore[arg-type]
    teach(service, lists=10, names=("age", "bm25"))
    assert int(state(service)["wrong"]) == 0


def test_evidence_about_positions_is_not_taught_from_lists_of_another_policy() -> None:
    service = make(open_temporary_store(), policies=[Positional])
    service.create("shop", RankerSettings(policy=PDGD()))
    teach(service, lists=10, names=("age", "bm25"))
    service.configure("shop", RankerSettings(policy=Positional()), relearn=True)
    assert int(state(service)["wrong"]) == 0


def test_a_forest_is_refused_where_nothing_could_grow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)  # as if it were not installed
    service = ServiceFacade(open_temporary_store())
    with pytest.raises(SettingError, match=r"scikit-learn: pip install 'rankloop\[ads\]'"):
        service.create("banner", RankerSettings(policy=AdForest()))
    with pytest.raises(SettingError, match="scikit-learn"):
        service.settings_from({"policy": "AdForest()"})
    assert service.rankers() == []
    service.create("banner", RankerSettings(policy=PDGD()))
    with pytest.raises(SettingError, match="scikit-learn"):
        service.configure("banner", RankerSettings(policy=AdForest()))
    assert service.settings("banner").policy.startswith("PDGD(")


def test_a_policy_that_the_log_could_not_name_is_refused() -> None:
    """Baselines of the lab that train on labels, and a policy of one's own that the service was not given."""
    service = ServiceFacade(open_temporary_store())
    service.create("shop", RankerSettings(policy=PDGD()))
    skyline = RankerSettings(policy=OfflineRankNet(), grades=GradeSettings(weights={"star": 1.0}))
    for settings in (skyline, RankerSettings(policy=Positional())):
        name = settings.policy.partition("(")[0].rpartition(".")[2]
        with pytest.raises(SettingError, match=rf"{name} is not a policy of this service"):
            service.create("other", settings)
        with pytest.raises(SettingError, match=rf"policies=\[{name}\]"):
            service.configure("shop", settings)
    assert service.rankers() == ["shop"]
    assert not service.ranker("shop").broken
