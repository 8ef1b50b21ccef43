"""`rankloop serve` as a person uses it: real processes, a real shell, real curl."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rankloop.cli.serve_commands import recommenders
from rankloop.errors import DataError, SettingError
from rankloop.recommend import save_recommender
from tests.cli.test_cli import asked
from tests.service.extensions.recommend.shop import CATALOGUE, fitted
from tests.support.serving import Process

CURL = shutil.which("curl")


def commands(printed: str) -> list[str]:
    """The lines that are there to be copied."""
    return [line for line in printed.splitlines() if "curl -s" in line]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> tuple[Process, str, int, str]:
    """A service that was started, used as it says, and ended: what it printed, its exit code, its answers."""
    process = Process(tmp_path_factory.mktemp("serve") / "data", "--window", "30").start()
    shell = subprocess.run(
        ["sh", "-e", "-c", "\n".join(commands(process.printed))], capture_output=True, text=True, check=True
    )
    code = process.stop()
    return process, process.printed, code, shell.stdout


@pytest.mark.skipif(CURL is None, reason="no curl: install it to try the printed commands")
def test_the_printed_commands_work_as_they_are(served: tuple[Process, str, int, str]) -> None:
    _, printed, _, answers = served
    assert len(commands(printed)) == 3
    ranked, receipts, why = (json.loads(line) for line in answers.splitlines())
    assert len(ranked["ranking"]) == 3
    assert ranked["provenance"]["fallback"] is None
    assert receipts["receipts"][0]["verdict"] == "accepted"
    assert "above" in why["sentence"]


def test_it_ends_cleanly_and_its_log_is_json_without_a_key(served: tuple[Process, str, int, str]) -> None:
    process, printed, code, _ = served
    assert code == 0
    assert "stopped: everything is kept" in printed
    lines = process.lines()
    assert [line["route"] for line in lines] == [
        "POST /v1/rank",
        "POST /v1/events",
        "GET /v1/explain/{query_id}",
    ]
    for key in process.keys.values():
        assert key not in process.log.read_text()
        assert not any(key.encode() in path.read_bytes() for path in process.folder.iterdir())


def test_keys_are_shown_once_and_stay(served: tuple[Process, str, int, str]) -> None:
    process, printed, _, _ = served
    assert printed.count("rl_admin_") == 2  # itself, and in a command
    with Process(process.folder) as again:
        assert "rl_" not in again.printed
        again.keys = process.keys
        with again.client("admin") as client:
            assert client.get("/v1/models").json()["features"] == ["bm25", "age_days"]


def test_new_keys_replace_the_old_ones(served: tuple[Process, str, int, str]) -> None:
    process, _, _, _ = served
    copy = process.folder.with_name("copy")
    shutil.copytree(process.folder, copy)
    with Process(copy, "--new-keys") as again:
        with again.client("admin") as client:
            assert client.get("/v1/models").status_code == 200
        again.keys = process.keys
        with again.client("admin") as client:
            assert client.get("/v1/models").status_code == 401


def test_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rankloop", "serve", "--data-dir", str(tmp_path / "data"), "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout
    said = ""
    while "/v1/explain/" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(120) == 0
    assert "everything is kept" in rest
    process.stdout.close()


def test_a_taken_port_is_said_and_another_one_is_found(tmp_path: Path) -> None:
    with socket.socket() as blocker:
        blocker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            blocker.bind(("127.0.0.1", 8000))
        except OSError:
            pass  # somebody else has it: as good
        else:
            blocker.listen()
        process = subprocess.Popen(
            [sys.executable, "-m", "rankloop", "serve", "--data-dir", str(tmp_path / "data")],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        assert "port 8000 is taken" in process.stdout.readline()
        assert ":8000" not in process.stdout.readline()
        process.terminate()
        process.stdout.read()
        assert process.wait(120) == 0
        process.stdout.close()
        refused = asked("serve", "--port", "8000", "--data-dir", str(tmp_path / "d"), expect=2)
        assert "127.0.0.1:8000 cannot be listened on" in refused


def test_options_that_would_change_a_ranker_are_refused(served: tuple[Process, str, int, str]) -> None:
    process, _, _, _ = served
    folder = str(process.folder)
    refused = asked("serve", "--port", "0", "--data-dir", folder, "--policy", "pdgd", expect=2)
    assert "another policy" in refused
    assert "did you mean 'PairRank'" in asked("serve", "--port", "0", "--policy", "parank", expect=2)


def test_a_log_can_be_copied(served: tuple[Process, str, int, str], tmp_path: Path) -> None:
    process, _, _, _ = served
    folder = str(process.folder)
    for target in ("log.jsonl", "log.db"):
        asked("backup", str(tmp_path / target), "--data-dir", folder)
        copy = str(tmp_path / f"copy-{target}")
        asked("restore", str(tmp_path / target), "--data-dir", copy)
        assert "holds a log already" in asked("restore", str(tmp_path / target), "--data-dir", copy, expect=2)


def test_a_recommender_is_read_before_anything_is_started(tmp_path: Path) -> None:
    good, array, text, cut = (tmp_path / name for name in ("shop.npz", "array.npy", "text.npz", "cut.npz"))
    save_recommender(good, fitted("rules"), CATALOGUE)
    np.save(array, np.arange(3))
    text.write_text("no model")
    cut.write_bytes(good.read_bytes()[:-100])
    data = tmp_path / "data"
    for path in (array, text, cut, tmp_path):
        with pytest.raises(DataError, match="expected a file written by"):
            recommenders([f"shop={path}"])
    for options in (["shop.npz"], ["=shop.npz"], ["shop="], [f"shop={good}", f"shop={good}"]):
        with pytest.raises(SettingError, match="--recommender is ranker=file, each ranker once"):
            recommenders(options)
    missing = f"shop={tmp_path / 'none.npz'}"
    refused = asked("serve", "--data-dir", str(data), "--port", "0", "--recommender", missing, expect=2)
    assert "expected a recommender, found nothing; make one with" in " ".join(refused.split())
    assert not data.exists()
    with Process(data, "--recommender", f"shop={good}", "--policy", "pdgd", "--ranker", "shop") as process:
        assert "recommender of shop: FacT, 120 items, digest " in process.printed
        with process.client("rank") as client:
            answer = client.post("/v1/recommend", json={"ranker": "shop", "user": "user 3", "k": 5}).json()
        assert (len(answer["reasons"]), answer["provenance"]["policy"]) == (5, "PDGD")
