"""The tutorial as a person follows it: a real service, a real shell, real curl, in the order of the page."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.serving import Process
from tests.test_docs import ROOT, blocks, run_block

PAGE = ROOT / "docs" / "tutorial.md"
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
END = "that is all from this command"


def commands(block: str) -> list[tuple[str, str]]:
    """Each command of a console block, and what the page says that it prints."""
    found = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, answer = part.partition("\n")
        found.append((command, answer))
    return found


def assert_same(said: str, found: str, what: str) -> None:
    alike = doctest.OutputChecker().check_output(said.rstrip() + "\n", found.rstrip() + "\n", SAME)
    assert alike, f"{what}\n--- the page says\n{said}\n--- it is\n{found}"


class Shell:
    """A shell that remembers its variables from one command to the next."""

    def __init__(self, folder: Path) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._process = subprocess.Popen(
            ["sh"],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str) -> str:
        """What a command prints; it must succeed."""
        process = self._process
        assert process.stdin
        assert process.stdout
        process.stdin.write(f'{command}\nprintf "\\n{END}: %s\\n" $?\n')
        process.stdin.flush()
        said = ""
        while (line := process.stdout.readline()) and not line.startswith(END):
            said += line
        assert line == f"{END}: 0\n", f"{command}\n{said}{line}"
        return said

    def close(self) -> None:
        self._process.communicate()


class Terminals:
    """Two of them: in the first the service runs, in the second everything else is done."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.service = folder, Process(folder / "nowhere")
        self.second, self._environment = Shell(folder), monkeypatch
        self._served = False

    def real(self, text: str) -> str:
        """A text of the page with the true address and the true keys in it."""
        text = text.replace("http://127.0.0.1:8000", self.service.url)
        return re.sub(r"rl_(\w+)_\.\.\.", lambda match: self.service.keys[match[1]], text)

    def console(self, block: str) -> None:
        for command, said in commands(block):
            if command.startswith("rankloop serve"):
                self.serve(command, said)
            else:
                assert_same(said, self.second.run(self.real(command)), command)
            for name, value in re.findall(r"^export (\w+)=(\S+)$", self.real(command), re.MULTILINE):
                self._environment.setenv(name, value)

    def serve(self, command: str, said: str) -> None:
        """Start the service as the page says, but on a free port; one that runs is ended first."""
        _, _, option, name, *options = shlex.split(command)
        assert option == "--data-dir"
        self.stop()
        keys = self.service.keys
        self.service = Process(self.folder / name, *options)
        self.service.keys = keys
        self._served = True
        self.service.start()
        printed = self.service.printed.replace(self.service.url, "http://127.0.0.1:8000")
        assert_same(said, printed.replace(str(self.folder) + os.sep, ""), command)

    def stop(self) -> None:
        if self._served:
            self._served = False
            assert self.service.stop() == 0

    def close(self) -> None:
        self.second.close()
        self.stop()


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: install it to follow the tutorial")
def test_the_tutorial_works_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("the_tutorial")
    terminals = Terminals(tmp_path, monkeypatch)
    found = blocks(PAGE, "console|python|json")
    assert {language for language, _ in found} == {"console", "python", "json"}
    try:
        for language, block in found:
            if language == "console":
                terminals.console(block)
            elif language == "python":
                run_block(terminals.real(block), vars(module), PAGE.name)
            else:
                (tmp_path / "mugs.json").write_text(block)  # the only file that the page has you write
    finally:
        terminals.close()


def test_a_wrong_answer_on_the_page_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminals = Terminals(tmp_path, monkeypatch)
    try:
        terminals.console("$ NAME=red\n$ echo $NAME\nred\n")
        with pytest.raises(AssertionError, match=r"the page says\s+blue"):
            terminals.console("$ echo $NAME\nblue\n")
        with pytest.raises(AssertionError, match="false"):
            terminals.console("$ false\n")
    finally:
        terminals.close()
