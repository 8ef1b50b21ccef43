"""The shop owner's page as a person follows it: its own commands, by a shell and curl, on a real service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.service.http.serving import Process
from tests.test_docs import ROOT, blocks

PAGE = ROOT / "docs" / "shop.md"


def names(answer: dict[str, Any]) -> list[str]:
    return [result["object_id"] for result in answer["ranking"]]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: install it to follow the page")
def test_the_page_goes_from_nothing_to_a_verdict_a_pin_a_stop_and_a_rollback(tmp_path: Path) -> None:
    script = "\n".join(code for _, code in blocks(PAGE, "sh")[1:])  # the first one starts the demo
    with Process(tmp_path / "data") as service:
        keys = {"RANK_KEY": service.keys["rank"], "ADMIN_KEY": service.keys["admin"], "URL": service.url}
        printed = subprocess.run(
            ["sh", "-eu", "-c", script],
            env={**os.environ, **keys},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        answers = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        _, first, learned, pinned, stopped, own, job, mode = answers
        assert names(first) == names(own) == ["gold", "silver", "plain"]
        assert names(learned)[0] == names(pinned)[0] == "plain"
        assert names(pinned)[1] == "gift card"
        assert (stopped["mode"], mode["mode"]) == ("passthrough", "explore")
        assert (job["kind"], job["state"]) == ("rollback", "done")
        assert "'plain' stands above 'gold'" in printed
        assert "Ranker 'shop' is better than the caller's order." in printed
        assert '"verdict":"A better"' in printed
        with service.client("admin") as admin:
            model = admin.get("/v1/models?ranker=shop").json()
            assert model["lists"] == 20  # what the visitors before Bob taught
