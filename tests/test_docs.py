"""The documentation tells the truth: its code runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from docs._site import policy_tables, settings_tables
from rankloop import policies
from rankloop.cli import app
from rankloop.cli.commands import import_all
from rankloop.cli.own_policies import read_any_policy
from rankloop.lab import baselines
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser, read_user
from rankloop.naming import find_kind, split_names
from rankloop.policies import PDGD, Policy, Random
from rankloop.policies.paper_settings import PAPER

ROOT = Path(__file__).parent.parent
PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")))
SHIPPED: dict[str, type[Policy]] = {
    name: value
    for name, value in (vars(policies) | vars(baselines)).items()
    if isinstance(value, type) and issubclass(value, Policy) and not value.__abstractmethods__
}


def title(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, languages: str) -> list[tuple[str, str]]:
    """The code blocks of a page in some languages (`python|console`), each with its language."""
    text = page.read_text("utf-8")
    return re.findall(rf"^```({languages})\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@cache
def prose(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


RUN = [page for page in PAGES if blocks(page, "python|console") and page.name != "tutorial.md"]
"""The pages whose blocks run here; the tutorial talks to a service of its own, in test_tutorial.py."""


def some_results() -> object:
    """Rows such as any experiment leaves, for the page that starts from them."""
    sweep = Sweep(
        data=["linear"],
        users={"perfect": PresetUser("perfect")},
        policies={"PDGD": PDGD(), "random": Random()},
        seeds=range(2),
        protocol=Protocol(rounds=20, checkpoints=2),
    )
    return run_sweep(sweep)


GIVEN: dict[str, dict[str, Callable[[], object]]] = {"docs/report.md": {"results": some_results}}


# Blocks


@pytest.mark.parametrize("page", RUN, ids=title)
def test_blocks_run_in_the_order_of_the_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("a_page_of_the_documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # classes look for their module
    namespace = vars(module)
    namespace.update({name: make() for name, make in GIVEN.get(title(page), {}).items()})
    for language, block in blocks(page, "python|console"):
        if language == "python":
            run_block(block, namespace, title(page))
        else:
            run_commands(block)


def run_block(block: str, namespace: dict[str, Any], name: str) -> None:
    """Run a block as a program or, if it looks like a session, as a session whose answers must be right."""
    if not block.startswith(">>>"):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block, name, "exec"), namespace)
        return
    session = doctest.DocTestParser().get_doctest(block, namespace, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(session, clear_globs=False)
    namespace.update(session.globs)
    assert not runner.failures


# Commands


def commands(block: str, *, prompt: str = "") -> list[list[str]]:
    """The words of every rankloop command in a block, without the leading `rankloop`."""
    start = f"{prompt}rankloop "
    lines = block.replace("\\\n", " ").splitlines()
    found = [line.removeprefix(prompt) for line in lines if line.startswith(start)]
    return [shlex.split(line, comments=True)[1:] for line in found]


@cache
def known_commands() -> dict[str, Any]:
    """Every command by its full name."""
    return dict(import_all())


def run_commands(block: str) -> None:
    for words in commands(block, prompt="$ "):
        few = ["--workers", "1"] if words[:2] in (["lab", "compare"], ["lab", "run"]) else []
        result = CliRunner().invoke(app, [*words, *few])
        assert result.exit_code == 0, f"rankloop {shlex.join(words)}\n{result.output}"


def mentioned() -> Iterator[tuple[str, list[str]]]:
    """Every command that is shown but too long to run: those in sh blocks and in running text."""
    for page in (page for page in PAGES if page.name != "CHANGELOG.md"):  # it also tells of what has gone
        for _, block in blocks(page, "sh"):
            yield from ((title(page), words) for words in commands(block))
        for span in re.findall(r"`(rankloop [^`<]+)`", prose(page)):
            yield from ((title(page), words) for words in commands(span))


@pytest.mark.parametrize(("page", "words"), list(mentioned()), ids=str)
def test_shown_commands_exist_with_these_options(page: str, words: list[str], tmp_path: Path) -> None:
    """Parse the command without running it, and look its names up; a file of settings is read at once."""
    (settings := tmp_path / "rankloop.toml").touch()
    words = [str(settings) if before == "--config" else word for before, word in pairwise(["", *words])]
    name = next((name for n in (3, 2, 1) if (name := " ".join(words[:n])) in known_commands()), "")
    command, words = known_commands().get(name), words[len(name.split()) :]
    assert command, f"{page}: no command is called {words[0]}"
    assert not hasattr(command, "commands"), f"{page}: {name} {' '.join(words)} is not a command"
    given = command.make_context("rankloop", list(words)).params  # refuses options that do not exist
    for name in split_names(given.get("policies") or ""):
        read_any_policy(name)
    for name in split_names(given.get("users") or ""):
        read_user(name)


def test_an_option_that_does_not_exist_would_be_noticed(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="--polices"):
        test_shown_commands_exist_with_these_options(
            "here", ["lab", "compare", "--polices", "pdgd"], tmp_path
        )


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        named = set(re.findall(r"(?:^|`)make ([a-z]+)", page.read_text("utf-8"), re.MULTILINE))
        assert named
        assert named <= targets, title(page)


# Links


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@cache
def links(page: Path) -> list[str]:
    """The relative links of a page."""
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)) if "://" not in link]


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{title(page)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{title(page)}: {link}"


def stands_for(page: Path) -> Path:
    """The file at the root that a page is on the site, as in `This page is [README.md](../README.md).`"""
    found = re.fullmatch(r"This page is \[.+\]\((.+)\)\.\s*", page.read_text("utf-8"))
    return (page.parent / found[1]).resolve() if found else page


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=title)
def test_every_page_is_on_the_map(page: Path) -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    assert page == index or stands_for(page) in linked


GUIDES = [
    page
    for page in sorted(ROOT.glob("docs/**/*.md"))
    if page.parent.name not in ("reference", "decisions")  # generated, and read from the index
]


@pytest.mark.parametrize("page", GUIDES, ids=title)
def test_every_page_has_a_way_on(page: Path) -> None:
    source = stands_for(page)
    targets = {(source.parent / link.partition("#")[0]).resolve() for link in links(source)}
    assert {each for each in targets if each.suffix == ".md"} - {source}, f"{title(page)} leads nowhere"


LONG = 25  # rows of a table that nobody reads through


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_long_tables_are_folded(page: Path) -> None:
    unfolded = re.sub(r"^<details>$.*?^</details>$", "", prose(page), flags=re.DOTALL | re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", unfolded, re.MULTILINE):
        assert table.count("\n") - 2 <= LONG, f"{title(page)}: {table.splitlines()[0]}"


# Policies


def section(name: str) -> tuple[Path, str]:
    """The page of a policy's family, and the policy's section there; capitals and hyphens do not matter."""
    kind = find_kind(name, SHIPPED, "policy")
    page = ROOT / "docs" / "policies" / f"{policy_tables.family_of(kind)}.md"
    found = re.search(rf"^## {kind.__name__}$.*?(?=^## )", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found, f"{title(page)} should have a section {kind.__name__}"
    return page, found[0]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_policy_has_a_section_with_its_differences_from_papers(name: str) -> None:
    page, text = section(name)
    assert re.search(rf"^### {name}: how ours differs$", text, re.MULTILINE), title(page)
    assert f"(policies/{page.name})" in (ROOT / "docs" / "index.md").read_text("utf-8")


@pytest.mark.parametrize("page", policy_tables.pages(), ids=title)
def test_tables_of_policies_are_those_of_the_classes(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == policy_tables.updated(page), "run `python docs/_site/policy_tables.py`"
    unsaid = re.findall(r"^(\| \[?`\w+`.*) \|  \|$", text, re.MULTILINE)
    assert not unsaid, f"{title(page)}: the last column says nothing of {unsaid}"


@pytest.mark.parametrize("page", settings_tables.pages(), ids=title)
def test_tables_of_settings_are_those_of_the_records(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "<!-- settings of" in text
    assert text == settings_tables.updated(page), "run `python docs/_site/settings_tables.py`"


def test_a_default_that_changed_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "policies" / "gradient.md"
    monkeypatch.setattr(PDGD.__dataclass_fields__["learning_rate"], "default", 0.7)
    assert "`0.7` (PDGD)" in policy_tables.updated(page)


@pytest.mark.parametrize("curve", sorted(ROOT.glob("docs/images/policies/*.svg")), ids=title)
def test_a_learning_curve_is_small_and_said_in_words_in_its_policys_section(curve: Path) -> None:
    _, text = section(curve.stem)
    assert curve.stat().st_size < 40_000
    assert re.search(
        rf"!\[Learning curve of {curve.stem} .+worst run .+\]\(\.\./images/policies/{curve.name}\)", text
    )
    assert "worst run as a thin line" in text


@pytest.mark.parametrize("name", PAPER)
def test_a_papers_settings_are_on_the_page_of_its_policy(name: str) -> None:
    page, _ = section(PAPER[name].name)
    assert f"| `{name}` | `{PAPER[name].policy}` |" in page.read_text("utf-8")
