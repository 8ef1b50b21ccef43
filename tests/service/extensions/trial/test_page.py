"""The trial on the overview page: it says what the API says, and everyone can see and read it."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.service import RankerSettings, TrialSettings, UserEvent
from rankloop.service.pages import Pages
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.browsing import AXE, CHROMIUM, DESKTOP, NO_AXE, NO_CHROMIUM, PHONE, browser
from tests.support.looking import watched
from tests.support.serving import Live

TRIALS = {
    "holdout": TrialSettings(outcome_seconds=5, session_seconds=5),
    "interleave": TrialSettings(kind="interleave", outcome_seconds=5, session_seconds=5),
    "value": TrialSettings(outcome_seconds=5, session_seconds=5, action="purchase", max_value=5),
    "worse": TrialSettings(kind="interleave", outcome_seconds=5, session_seconds=5),
    "fresh": TrialSettings(),
}


def tried_service() -> ServiceFacade:
    """A ranker that is better than the caller's order by either kind, one that is worse, and one unseen."""
    now = [5000.0]
    service = ServiceFacade(open_temporary_store(), clock=lambda: now[0])
    for ranker, settings in TRIALS.items():
        rng = np.random.default_rng(3)
        service.create(ranker, RankerSettings(window=5))
        for number in range(160 if ranker != "fresh" else 20):
            if number == 20:
                service.set_mode(ranker, "frozen" if ranker == "worse" else "explore")
                service.start_trial(ranker, settings)
            likes = rng.permutation(6)
            candidates = [Candidate(f"d{row}", {"liked": float(likes[row])}) for row in range(6)]
            shown = service.rank(candidates, ranker=ranker, k=3, session_id=f"s{number}")
            # those of the one that gets worse come to like the caller's order
            wanted = likes if ranker != "worse" or number < 20 else np.arange(6)[::-1]
            best = max(shown.object_ids, key=lambda name: wanted[int(name[1:])])
            if rng.random() < wanted[int(best[1:])] / 5:
                bought = UserEvent(shown.query_id, best, "purchase", value=3.0)
                service.record([UserEvent(shown.query_id, best), bought])
            now[0] += 2
    service.start_trial("fresh", TRIALS["fresh"])
    now[0] += 100
    return service


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with watched(tried_service(), Pages(public=True)) as found:
        yield found


@pytest.mark.parametrize("ranker", TRIALS)
def test_the_page_says_what_the_api_says(live: Live, ranker: str) -> None:
    (api,) = live["admin"].get(f"/v1/rankers/{ranker}/trials").json()
    page = html.unescape(live["nobody"].get("/overview", params={"ranker": ranker}).text)
    first, *rest = api["sentence"].splitlines()
    assert f'<b id="verdict" data-verdict="{api["verdict"]}">{first}</b>' in page
    assert all(f">{line}</span>" in page for line in rest)
    assert ('class="interval' in page) == ('data-spec="spec-trial"' in page) == (ranker != "fresh")
    for outcome in api["outcomes"] if ranker != "fresh" else ():
        shown = page.partition(f'id="uplift-{outcome["outcome"]}"')[2]
        assert f'value="{outcome["estimate"]}"' in shown
    assert "more per list more" not in page


def test_a_ranker_without_a_trial_shows_none() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("shop")
    with watched(service, Pages(public=True)) as live:
        page = live["nobody"].get("/overview").text
    assert 'id="trial"' not in page
    assert 'id="no-trial"' in page
    assert "rankloop trial start shop --share 0.1" in page


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])
def test_it_can_be_seen_and_read(live: Live, screen: dict[str, Any]) -> None:
    with browser(live.url, **screen) as seen:
        wrong: dict[str, list[str]] = {}
        for ranker in TRIALS:
            page = seen.go(f"/overview?ranker={ranker}")
            seen.drawn(page.locator(".chart").count())
            assert page.locator("#trial").is_visible()
            assert seen.fits()
            if AXE.exists() and (found := seen.complaints()):
                wrong[ranker] = found
        assert wrong == {}
        assert seen.trouble == []
    if not AXE.exists():
        pytest.skip(NO_AXE)
