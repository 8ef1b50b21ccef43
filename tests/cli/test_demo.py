"""rankloop demo: one command, one address."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx


def test_it_prints_an_address_that_answers(tmp_path: Path) -> None:
    windows: list[float] = []
    for _ in range(2):  # the second time, the settings are there that were changed
        command = [sys.executable, "-W", "error", "-m", "rankloop", "demo", "--port", "0"]
        process = subprocess.Popen(
            [*command, "--data-dir", str(tmp_path / "demo")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        printed = ""
        while "sign in with this key" not in printed:
            line = process.stdout.readline()
            assert line, printed
            printed += line
        (url,) = re.findall(r"http://127\.0\.0\.1:\d+", printed)
        page = httpx.get(f"{url}/", params={"q": "mug"}, timeout=60)
        assert page.status_code == 200
        assert page.text.count('action="/click"') == 10
        (key,) = re.findall(r"sign in with this key: (\S+)", printed)
        rules, admin = f"{url}/v1/rankers/yours/settings", {"Authorization": f"Bearer {key}"}
        windows.append(httpx.get(rules, headers=admin, timeout=60).json()["settings"]["window"])
        assert httpx.patch(rules, headers=admin, json={"window": 5.0}, timeout=60).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        process.stdout.close()
    assert windows == [30.0, 5.0]
