"""A whole trial over HTTP: the page's own commands, by a shell and curl, and then a restart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.client import Client, ClientError
from rankloop.service import RankerSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Process, alive
from tests.test_docs import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "what-is-it-worth.md"


def answers(script: str, variables: dict[str, str]) -> list[Any]:
    """What the commands of a script print, which is JSON."""
    command, variables = ["sh", "-eu", "-c", script], {**os.environ, **variables}
    printed = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    found = []
    while printed := printed.lstrip():
        answer, end = json.JSONDecoder().raw_decode(printed)
        found.append(answer)
        printed = printed[end:]
    return found


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: install it to follow the page")
def test_the_page_runs_a_whole_trial_and_its_lists_are_the_same_after_a_restart(tmp_path: Path) -> None:
    script = "\n".join(code for _, code in blocks(PAGE, "sh"))
    service = Process(tmp_path / "data")
    with service:
        keys = {"RANK_KEY": service.keys["rank"], "ADMIN_KEY": service.keys["admin"], "URL": service.url}
        *_, stopped, refused = answers(script, keys)
        assert refused["error"].startswith("no answer: ")
        assert stopped["verdict"] == "A better"
        assert stopped["reason"] == "enough is known"
        assert stopped["sessions"] == {"AB": 25}
        assert stopped["sentence"].startswith("Ranker 'shop' is better than the caller's order.")
    with Process(tmp_path / "data") as again:
        again.keys = service.keys
        with again.client("admin") as admin:
            lists = [each["query_id"] for each in admin.get("/v1/lists?ranker=shop&last=100").json()]
            arms = [admin.get(f"/v1/audit/{each}").json()["assignment"] for each in lists]
            assert sum(each is not None for each in arms) == 25
            for each in lists:
                assert admin.post(f"/v1/audit/{each}/replay").json()["identical"]
            assert admin.get("/v1/rankers/shop/trials").json() == [stopped]


def test_a_trial_by_client_and_command_line() -> None:
    service = ServiceFacade(open_temporary_store(), clock=lambda: 1000.0)
    service.create("shop", RankerSettings())
    with alive(service) as live, Client(live.url, live.keys["admin"], timeout=60) as client:
        reach = ["--url", live.url, "--key", live.keys["admin"]]
        begun = CliRunner().invoke(app, ["trial", "start", "shop", "--share", "0.2", *reach])
        assert begun.exit_code == 0, begun.output
        (found,) = client.trials("shop")
        assert (found["settings"]["share"], found["runs"], found["verdict"]) == (0.2, True, "undecided")
        assert f"trial {found['trial']} of shop has begun, against the caller's order" in begun.output
        assert (
            live.metric("rankloop_trial_sessions", ranker="shop", trial=str(found["trial"]), arm="A") == 0.0
        )
        with pytest.raises(ClientError, match="still runs: stop it first") as refused:
            client.start_trial("shop", {"kind": "interleave"})
        assert refused.value.status == 409
        with pytest.raises(ClientError, match="beside max_value"):
            client.start_trial("shop", {"max_value": 5})
        shown = CliRunner().invoke(app, ["trial", "show", "shop", *reach])
        assert "Undecided whether ranker 'shop' is better than the caller's order." in shown.output
        assert "No session is over yet." in shown.output
        ended = client.stop_trial(found["trial"], "shop", reason="no traffic")
        assert (ended["runs"], ended["reason"]) == (False, "no traffic")
        assert live["admin"].get("/v1/rankers/shop/trials/99").status_code == 404
        assert live["rank"].get("/v1/rankers/shop/trials").status_code == 403
        with pytest.raises(ClientError, match="does not run"):
            client.stop_trial(found["trial"], "shop")
        begun = CliRunner().invoke(app, ["trial", "start", "shop", "--policy", "pdgd", *reach])
        assert begun.exit_code == 0, begun.output
        assert client.trials("shop")[0]["against"] == "policy PDGD"
        client.stop_trial(client.trials("shop")[0]["trial"], "shop")
        with pytest.raises(ClientError, match="did you mean 'PDGD'"):
            client.start_trial("shop", {"policy": "pdg"})
        begun = CliRunner().invoke(app, ["trial", "start", "shop", *reach])
        number = str(client.trials("shop")[0]["trial"])
        told = CliRunner().invoke(
            app, ["trial", "stop", number, "--ranker", "shop", "--reason", "[/x]", *reach]
        )
        assert told.exit_code == 0, told.output
        assert "has ended: [/x]" in " ".join(told.output.split())
