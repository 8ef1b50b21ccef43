"""The doors of shop owner and operator, as a person goes through them: a shell, curl, a real service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.serving import Process
from tests.test_docs import ROOT, blocks

PAGE, OPERATOR = ROOT / "docs" / "shop.md", ROOT / "docs" / "operator.md"


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


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: install it to follow the page")
def test_the_operators_page_makes_keys_looks_keeps_deletes_and_restores(tmp_path: Path) -> None:
    script = "\n".join(code for _, code in blocks(OPERATOR, "sh") if "--print-config" not in code)
    with Process(tmp_path / "data") as service:
        with service.client("rank") as rank:
            rank.post("/v1/rank", json={"client_id": "c-4711", "candidates": [{"object_id": "a"}]})
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        known = {"PATH": path, "ADMIN_KEY": service.keys["admin"], "URL": service.url, "COLUMNS": "200"}
        done = subprocess.run(
            ["sh", "-eu", "-c", script],
            cwd=tmp_path,
            env={**os.environ, **known},
            capture_output=True,
            text=True,
            check=False,
        )
    printed = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert "anna is revoked" in printed
    assert "1 list and 0 events deleted; a search found nothing of them in the files of the store" in printed
    assert "this backup still holds them" in printed
    assert printed.count("everything is as it was written") == 2
