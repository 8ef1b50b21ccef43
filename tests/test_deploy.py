"""What is in `deploy` works as far as this machine can try it."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.cli.test_cli import asked
from tests.support.ports import free_port
from tests.support.serving import Process
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs/howto/deploy.md").read_text()
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
ANALYZE = shutil.which("systemd-analyze")


def test_the_settings_are_settings() -> None:
    said = asked("serve", "--config", str(DEPLOY / "rankloop.toml"), "--print-config")
    named = [
        line.split(" = ")[0] for line in (DEPLOY / "rankloop.toml").read_text().splitlines() if " = " in line
    ]
    assert all(re.search(rf"^{name} = .*# file$", said, re.MULTILINE) for name in named)
    assert len(named) == 6


@pytest.mark.skipif(ANALYZE is None, reason="no systemd-analyze: install systemd to check the unit")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    assert ANALYZE is not None
    program = tmp_path / "rankloop"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = (DEPLOY / "rankloop.service").read_text().replace("/opt/rankloop/bin/rankloop", str(program))
    (tmp_path / "rankloop.service").write_text(unit)
    done = subprocess.run(
        [ANALYZE, "verify", "--man=no", str(tmp_path / "rankloop.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if "rankloop" in line]
    assert (done.returncode, ours) == (0, []), done.stderr


def test_the_unit_and_the_page_name_the_same_files() -> None:
    unit = (DEPLOY / "rankloop.service").read_text()
    command = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert command
    program, *arguments = shlex.split(command[1])
    assert program.removesuffix("/bin/rankloop") in PAGE
    assert arguments[:2] == ["serve", "--config"]
    assert f"install -D -m 644 deploy/rankloop.toml {arguments[2]}" in PAGE


def test_the_image_is_made_by_the_steps_of_the_page_from_files_that_are_there() -> None:
    lines = [
        line.split(" ", 1) for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line[:1].isupper()
    ]
    steps = [rest for word, rest in lines if word == "RUN"]
    assert any(step.endswith("-m venv /opt/rankloop") for step in steps)
    assert "/opt/rankloop/bin/pip install --no-cache-dir .[serve,postgres]" in steps
    assert "/opt/rankloop/bin/pip install --no-cache-dir .[serve,postgres]" in PAGE
    for copied in (rest.split()[:-1] for word, rest in lines if word == "COPY"):
        assert all((ROOT / name).exists() for name in copied)
    (command,) = [rest for word, rest in lines if word == "CMD"]
    assert command == '["/opt/rankloop/bin/rankloop", "serve"]'
    (variables,) = [rest for word, rest in lines if word == "ENV"]
    names = [each.partition("=")[0].removeprefix("RANKLOOP_").lower() for each in variables.split()]
    known = asked("serve", "--print-config")
    assert all(re.search(rf"^{name} = ", known, re.MULTILINE) or name == "port" for name in names)
    (check,) = [rest for word, rest in lines if word == "HEALTHCHECK"]
    (port,), (volume,), (user,) = (
        [rest for word, rest in lines if word == name] for name in ("EXPOSE", "VOLUME", "USER")
    )
    assert f"http://127.0.0.1:{port}/v1/ready" in check
    assert check.split('"')[1].startswith("/opt/rankloop/bin/")
    assert {f"RANKLOOP_PORT={port}", f"RANKLOOP_DATA_DIR={volume}"} <= set(variables.split())
    assert any(
        f"useradd --system --uid 10001 {user} && mkdir {volume} && chown {user} {volume}" in step
        for step in steps
    )
    assert f"--publish 127.0.0.1:{port}:{port} --volume rankloop:{volume}" in PAGE


def test_what_make_test_needs_is_installed_by_it() -> None:
    """A test that is skipped for want of a program must say so, and `make test` must try to get it."""
    makefile = (ROOT / "Makefile").read_text()
    (needed,) = re.findall(r"^test: (.*?) ##", makefile, re.MULTILINE)
    for target, script in (("browser", "chromium"), ("postgres", "postgres"), ("nginx", "nginx")):
        assert target in needed.split()
        assert f"./scripts/ensure-{script}\n" in makefile


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[tuple[Process, str]]:
    """A real service behind a real nginx with our example, but for TLS and the ports."""
    assert NGINX is not None
    process = Process(tmp_path / "data", "--proxies", "127.0.0.1").start()
    port, upstream = free_port(), process.url.rpartition(":")[2]
    text = (DEPLOY / "nginx.conf").read_text()
    text = text.replace("server 127.0.0.1:8000;", f"server 127.0.0.1:{upstream};")
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    text = re.sub(r"^ *ssl_certificate.*\n", "", text, flags=re.MULTILINE)
    paths = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = (
        f"daemon off; pid {tmp_path}/nginx.pid; error_log {tmp_path}/error.log; events {{}}\n"
        f"http {{ access_log off; {paths}\n{text}\n}}"
    )
    (tmp_path / "nginx.conf").write_text(whole)
    nginx = subprocess.Popen(
        [NGINX, "-p", str(tmp_path), "-e", f"{tmp_path}/error.log", "-c", str(tmp_path / "nginx.conf")]
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url, nginx)
        yield process, url
    finally:
        nginx.terminate()
        nginx.wait()
        process.stop()


@pytest.mark.skipif(NGINX is None, reason="no nginx: run scripts/ensure-nginx to try the proxy example")
def test_the_proxy_passes_on_what_pages_need_within_limits(proxied: tuple[Process, str]) -> None:
    process, url = proxied
    headers = {"Authorization": f"Bearer {process.keys['page']}"}
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        assert client.get("/v1/ready").json()["ready"] is True
        assert "sendBeacon" in client.get("/rankloop.js").text
        event = {"events": [{"action_name": "click", "query_id": "unheard of"}]}
        assert client.post("/v1/events", json=event).status_code == 200
        for path in ("/", "/overview", "/metrics", "/v1/rank", "/v1/health", "/v1/openapi.json"):
            assert client.get(path).status_code == 404
        large = client.post("/v1/events", content=b" " * 70_000)
        assert large.status_code == 413
    assert 429 in at_once(url, process.keys["page"], 120), "nobody was told to wait"


def at_once(url: str, key: str, times: int) -> set[int]:
    """The statuses of so many requests that are all sent before the first answer is read."""
    body, to = b'{"events": []}', url.removeprefix("http://")
    head = f"POST /v1/events HTTP/1.1\r\nHost: {to}\r\nAuthorization: Bearer {key}\r\n"
    sent = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    with ExitStack() as opened:
        callers = [
            opened.enter_context(socket.create_connection(("127.0.0.1", int(to.rpartition(":")[2])), 60))
            for _ in range(times)
        ]
        for caller in callers:
            caller.sendall(sent)
        return {int(caller.recv(100).split(b" ")[1]) for caller in callers}


def wait_for(url: str, nginx: subprocess.Popen[bytes]) -> None:
    """Until nginx answers."""

    def answers() -> bool:
        assert nginx.poll() is None, "nginx refused our example"
        try:
            httpx.get(f"{url}/v1/ready", timeout=60)
        except httpx.TransportError:
            return False
        return True

    wait_until(answers)
