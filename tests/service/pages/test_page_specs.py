"""Every chart of the pages is valid Vega-Lite, has its data, and can be drawn."""

from __future__ import annotations

import json
import re
from typing import Any

import altair as alt
import pytest
import vl_convert

from rankloop.service.pages import Pages
from rankloop.service.service_facade import ServiceFacade
from tests.service.extensions.fair.test_page import fair_service
from tests.service.extensions.trial.test_page import tried_service
from tests.support.looking import watched

SPEC = re.compile(r'<script type="application/json" id="spec-([^"]+)">(.+)</script>')


def specs(service: ServiceFacade, path: str, **parameters: str) -> dict[str, dict[str, Any]]:
    """The charts of a page by name."""
    with watched(service, Pages(public=True)) as live:
        page = live["nobody"].get(path, params=parameters).text
    return {name: json.loads(spec) for name, spec in SPEC.findall(page)}


@pytest.mark.parametrize("by", ["time", "lists"])
def test_charts_of_the_overview(by: str) -> None:
    found = specs(tried_service(), "/overview", ranker="holdout", by=by, minutes="60")
    assert set(found) == {"trial", "ctr", "mrr", "settled", "cost"}
    assert found["ctr"]["datasets"]["decisions"]
    for spec in found.values():
        check_drawn(spec)


def test_charts_of_the_exposure_page() -> None:
    found = specs(fair_service(), "/exposure", ranker="five")
    assert set(found) == {"ahead"}
    for spec in found.values():
        check_drawn(spec)


def check_drawn(spec: dict[str, Any]) -> None:
    alt.LayerChart.from_dict(spec)  # refuses what the schema of Vega-Lite does not know
    assert {layer["data"]["name"] for layer in spec["layer"]} == set(spec["datasets"])
    picture = vl_convert.vegalite_to_svg(json.dumps(spec))
    lines = sum(layer["mark"]["type"] == "line" for layer in spec["layer"])
    assert lines > 0
    assert picture.count("mark-line") >= lines
