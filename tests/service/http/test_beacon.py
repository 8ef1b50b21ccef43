"""The script for web pages, in a real browser."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import alive, request
from tests.support.waiting import wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PAGE = """<!DOCTYPE html><title>shop</title>
<script src="{url}/rankloop.js" data-key="{key}"></script>
<ol data-rankloop-query="{query}">{results}</ol>
<p id="elsewhere">nothing</p>
<script>
document.getElementById("elsewhere").click();
document.querySelector("[data-rankloop-object=d2] b").click();
rankloop.report("{query}", "d3", 9, "hover");
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: install it to see a browser report clicks")
def test_a_browser_reports_a_click_on_a_result_and_on_nothing_else(tmp_path: Path) -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service) as live:
        shown = live["rank"].post("/v1/rank", json=request()).json()
        names = [each["object_id"] for each in shown["ranking"]]
        results = "".join(f'<li data-rankloop-object="{name}"><b>{name}</b></li>' for name in names)
        page = tmp_path / "page.html"
        query = shown["query_id"]
        page.write_text(PAGE.format(url=live.url, key=live.keys["page"], query=query, results=results))
        browse(page, tmp_path / "profile")
        wait_until(lambda: len(list(service.store.read_events(None))) >= 2)
        events = list(service.store.read_events(None))
    found = {(each.object_id, each.action, each.verdict, each.ordinal) for each in events}
    assert found == {
        ("d2", "click", "accepted", names.index("d2") + 1),
        ("d3", "hover", "ignored", 9),
    }


def browse(page: Path, profile: Path) -> None:
    command = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *(f"--user-data-dir={profile}", "--virtual-time-budget=5000", "--dump-dom", page.as_uri()),
    ]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
