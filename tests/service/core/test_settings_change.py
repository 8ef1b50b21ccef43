"""Settings are changed by those who know what they change, and have seen what is in force."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import structs

from rankloop.client import Client, ClientError
from rankloop.policies import PDGD
from rankloop.service import FairSettings, GuardrailSettings, RankerSettings
from rankloop.service.service_errors import ConflictError
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.life import SHORT, Clock, live, make, same, state
from tests.support.limits import keep_snapshots_every
from tests.support.serving import Live, alive

frequent_snapshots = keep_snapshots_every(7)

PATH = "/v1/rankers/shop/settings"


@pytest.fixture
def service() -> ServiceFacade:
    clock = Clock()
    found = make(open_temporary_store(), clock)
    found.create("shop", structs.replace(SHORT, guardrails=GuardrailSettings(max_displacement=3)))
    live(found, clock, rounds=12)
    found.flush("shop")
    return found


@pytest.fixture
def http(service: ServiceFacade) -> Iterator[Live]:
    with alive(service) as found:
        yield found


def test_a_preview_says_what_would_change_and_be_lost_and_changes_nothing(service: ServiceFacade) -> None:
    learned, before = service.model("shop").lists, service.settings("shop")
    assert learned
    other = service.preview("shop", structs.replace(before, policy=PDGD(), window=5.0, fair=FairSettings()))
    assert {"window", "policy", "fair"} <= {each.name for each in other.changes}
    assert (other.changes_policy, other.keeps_learned, other.dangerous) == (True, False, True)
    assert (other.lists, other.events) == (learned, learned)
    assert f"{learned} lists would be dropped" in " ".join(other.sentences)
    assert "exposure account would begin anew" in " ".join(other.sentences)
    mild = service.preview("shop", structs.replace(before, window=5.0))
    assert [(each.name, each.before, each.after) for each in mild.changes] == [("window", 60.0, 5.0)]
    assert (mild.keeps_learned, mild.lists, mild.dangerous) == (True, 0, False)
    again = service.preview("shop", structs.replace(before, policy=PDGD()), relearn=True)
    assert (again.lists, again.dangerous) == (0, True)
    assert service.preview("shop", before).sentences == ("Nothing would change.",)
    assert service.settings("shop") is before
    assert len({each.confirm for each in (other, mild, again)}) == 3


def test_a_change_that_would_drop_what_was_learned_is_told_twice(service: ServiceFacade, http: Live) -> None:
    """Also one that only brings the default policy back."""
    before = state(service)
    body = {"policy": "PDGD()", "window": 60}
    refused = http["admin"].patch(PATH, json=body)
    assert refused.status_code == 409
    assert "lists would be dropped" in refused.json()["error"]
    token = refused.json()["preview"]["confirm"]
    assert (
        http["admin"].patch(PATH, json={**body, "window": 61}, params={"confirm": token}).status_code == 409
    )
    assert same(state(service), before)
    changed = http["admin"].patch(PATH, json=body, params={"confirm": token})
    assert changed.status_code == 200
    assert changed.json()["settings"]["policy"].startswith("PDGD(")
    assert service.model("shop").lists == 0
    assert http["admin"].patch(PATH, json={"policy": None}).status_code == 409


def test_a_patch_changes_what_it_names_and_nothing_else(service: ServiceFacade, http: Live) -> None:
    before = service.settings("shop").to_json()
    patch = {"window": 7.5, "guardrails": None, "actions": {"save": 1.0}}
    seen = http["admin"].patch(PATH, json=patch, params={"preview": True}).json()
    assert {each["name"] for each in seen["changes"]} == {"window", "guardrails", "actions.save"}
    assert service.settings("shop").to_json() == before
    changed = http["admin"].patch(PATH, json=patch, params={"version": seen["version"]}).json()
    expected = before | {"window": 7.5, "guardrails": None, "actions": {"click": 1.0, "save": 1.0}}
    assert changed["settings"] == expected == service.settings("shop").to_json()
    for wrong in ({"widnow": 3}, {"widnow": None}, {"window": "long"}, {"policy": "nobody's"}):
        assert http["admin"].patch(PATH, json=wrong).status_code == 400
    assert service.settings("shop").to_json() == expected


def test_null_switches_a_limit_off_and_brings_all_else_back(service: ServiceFacade, http: Live) -> None:
    patch = {"client_limit": {"lists": None, "repeats": 7, "seconds": 5}, "window": None}
    changed = http["admin"].patch(PATH, json=patch).json()["settings"]
    assert changed["client_limit"] == {"lists": None, "repeats": 7, "seconds": 5.0}
    assert changed["window"] == 600.0
    changed = http["admin"].patch(PATH, json={"client_limit": {"seconds": None}}).json()["settings"]
    assert changed["client_limit"] == {"lists": None, "repeats": 7, "seconds": 86_400.0}
    changed = http["admin"].patch(PATH, json={"client_limit": None}).json()["settings"]
    assert changed["client_limit"] == {"lists": 20, "repeats": 5, "seconds": 86_400.0}


def test_two_operators_do_not_overwrite_each_other(service: ServiceFacade, http: Live) -> None:
    seen = http["admin"].get(PATH).json()["version"]
    assert http["admin"].patch(PATH, json={"window": 9}, params={"version": seen}).status_code == 200
    late = http["admin"].patch(PATH, json={"window": 8}, params={"version": seen})
    assert late.status_code == 409
    assert "were changed meanwhile" in late.json()["error"]
    with pytest.raises(ConflictError, match="were changed meanwhile"):
        service.configure("shop", RankerSettings(), version=seen, relearn=True)
    assert service.settings("shop").window == 9


def test_the_client_looks_first_and_confirms(service: ServiceFacade, http: Live) -> None:
    with Client(http.url, http.keys["admin"], timeout=30) as client:
        assert (
            client.change({"window": 4.0}, "shop")
            == service.ranker("shop").view.configuration.settings_version
        )
        patch = {"policy": "PDGD()"}
        with pytest.raises(ClientError, match="policy would change from PairRank"):
            client.change(patch, "shop", relearn=True)
        seen = client.preview(patch, "shop", relearn=True)
        client.change(patch, "shop", relearn=True, confirm=seen["confirm"], version=seen["version"])
        assert isinstance(service.ranker("shop").view.configuration.policy, PDGD)
        assert service.settings("shop").window == 4.0
        assert (
            client.change({"window": None}, "shop")
            == service.ranker("shop").view.configuration.settings_version
        )
        assert service.settings("shop").window == RankerSettings().window
