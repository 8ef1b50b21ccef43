"""The documentation as a site: built as `make docs` builds it, and looked at from outside."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import pytest

from rankloop.cli.commands import import_all
from rankloop.service.http import AppContext, Keys
from rankloop.service.http.app import described
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.test_docs import ROOT, prose, title

DOCS = ROOT / "docs"
SOURCES = sorted(DOCS.glob("**/*.md"))
PACKAGES = sorted(page.stem for page in DOCS.glob("reference/*.md") if page.stem not in ("http", "cli"))
LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going"]
    return subprocess.run(
        [*command, "--quiet", "--conf-dir", str(DOCS), str(source), str(out)],
        capture_output=True,
        text=True,
        check=False,
    )


@dataclass
class Page(HTMLParser):
    """What a browser would make of a page: where it leads, what it loads, what can be read on it."""

    ids: set[str] = field(default_factory=set)
    leads: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    formulas: int = 0
    said: list[str] = field(default_factory=list)  # without code and formulas

    def __post_init__(self) -> None:
        super().__init__()
        self._aside = 0  # how deep we are in code, scripts or formulas

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {value for name, value in given.items() if name == "id"}
        self.formulas += tag == "math"
        self._aside += tag in ("pre", "code", "script", "style", "math")
        if tag == "a":
            self.leads.append(given.get("href", "#"))
        if tag in LOADS and LOADS[tag] in given:
            self.loads.append(given[LOADS[tag]])
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        self._aside -= tag in ("pre", "code", "script", "style", "math")

    def handle_data(self, data: str) -> None:
        if not self._aside:
            self.said.append(data)

    @cached_property
    def text(self) -> str:
        return "".join(self.said)


@cache
def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text("utf-8"))
    page.close()
    return page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    out = tmp_path_factory.mktemp("site")
    done = build(DOCS, out)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return out


def html(site: Path, source: Path) -> Path:
    return (site / source.relative_to(DOCS)).with_suffix(".html")


def pages(site: Path) -> Iterator[tuple[str, Page]]:
    for path in sorted(site.glob("**/*.html")):
        yield path.relative_to(site).as_posix(), read(path)


def test_every_page_is_there_and_in_the_table_of_contents_of_the_first(site: Path) -> None:
    first = {unquote(urlsplit(link).path) for link in read(site / "index.html").leads}
    for source in SOURCES:
        there = html(site, source)
        assert there.exists(), title(source)
        assert source.name == "index.md" or there.relative_to(site).as_posix() in first, title(source)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for name, page in pages(site):
        assert page.loads, name
        for address in page.loads:
            assert not urlsplit(address).netloc, f"{name} loads {address}"
    for style in site.glob("_static/**/*.css"):
        for address in re.findall(r"url\(\s*[\"']?([^)\"']+)|@import\s+([^;]+)", style.read_text("utf-8")):
            assert not re.match(r"[\"']?(https?:)?//", "".join(address)), f"{style.name} loads {address}"


def test_every_link_leads_to_a_page_and_a_place_on_it(site: Path) -> None:
    asked = set[tuple[Path, str]]()  # pages of a folder have the same links beside their text
    for name, page in pages(site):
        for link in page.leads:
            parts = urlsplit(link)
            where = (site / name).parent if parts.path else site / name
            if parts.scheme or parts.netloc or (where, link) in asked:
                continue
            asked.add((where, link))
            target = where / unquote(parts.path) if parts.path else where
            assert target.exists(), f"{name}: {link}"
            if parts.fragment and target.suffix == ".html":
                found = read(target.resolve()).ids
                assert unquote(parts.fragment) in found or parts.fragment == "top", f"{name}: {link}"


def test_formulas_are_drawn(site: Path) -> None:
    for name, page in pages(site):
        assert not re.search(r"\$\$|\$[^$\s]*\\|\\(frac|sum|theta|sigma)", page.text), name
    for source in SOURCES:
        written = len(
            re.findall(r"\$\$.+?\$\$|\$[^$]+\$", re.sub(r"`[^`\n]*`", "", prose(source)), re.DOTALL)
        )
        assert read(html(site, source)).formulas >= written, title(source)
    assert read(site / "policies" / "pairwise.html").formulas > 5
    assert read(site / "reference" / "policies.html").formulas > 50


def test_no_markup_of_docstrings_is_left(site: Path) -> None:
    for package in PACKAGES:
        text = read(site / "reference" / f"{package}.html").text
        assert "`" not in text, package
        assert ":math:" not in text, package
        assert ":py:" not in text, package


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    for package in PACKAGES:
        ids = read(site / "reference" / f"{package}.html").ids
        page = (DOCS / "reference" / f"{package}.md").read_text("utf-8")
        for home in re.findall(r"automodule:: ([\w.]+)", page):
            module = importlib.import_module(home)
            classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
            own = [name for name, value in classes.items() if value.__module__ == home]
            for name in getattr(module, "__all__", [each for each in own if each[0].isupper()]):
                value = getattr(module, name)
                if isinstance(value, TypeVar):
                    continue
                if getattr(value, "__module__", "").startswith("rankloop"):  # no constants
                    assert f"{home}.{name}" in ids, f"{home}.{name}"


def test_every_route_and_type_of_the_service_is_in_the_reference(site: Path) -> None:
    api = described(AppContext(service=ServiceFacade(open_temporary_store()), keys=Keys.fresh()[0]))
    text = (site / "reference" / "http.html").read_text("utf-8")
    for path, methods in api["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in re.sub(r"<[^>]+>", "", text)
    assert {name.lower() for name in api["components"]["schemas"]} <= read(
        site / "reference" / "http.html"
    ).ids


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "reference" / "cli.html").read_text("utf-8"))
    ids = read(site / "reference" / "cli.html").ids
    for name, command in import_all():
        assert f"rankloop-{name.replace(' ', '-')}" in ids, name
        named = [option for given in command.params for option in given.opts if option.startswith("--")]
        assert all(option in text for option in named if option != "--help"), name


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("docker", "howto/deploy"),
        ("pin product", "howto/guardrails"),
        ("b test", "howto/what-is-it-worth"),  # A/B test, as the search takes it apart; "a" is left out
        ("gdpr", "operator"),
    ],
)
def test_the_search_finds_what_newcomers_type(words: str, page: str, site: Path) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    found = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    for word in words.split():
        hits = [found[kind].get(word, []) for kind in ("terms", "titleterms")]
        pages = {number for hit in hits for number in (hit if isinstance(hit, list) else [hit])}
        assert found["docnames"].index(page) in pages, word


def test_what_is_wrong_would_be_noticed(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    (source / "index.md").write_text("# Top\n\n## A\n\n[b](b.md) [c](c.md)\n")
    (source / "b.md").write_text("# B\n\n$\\nosuch{x}$\n")
    (source / "c.md").write_text("# C\n\n[nowhere](b.md#nowhere)\n")
    (source / "d.md").write_text("# D\n\nNobody links here.\n")
    done = build(source, tmp_path / "out")
    assert done.returncode == 1
    assert "nosuch" in done.stderr
    assert "nowhere" in done.stderr
    assert "d.md: WARNING: document isn't included in any toctree" in done.stderr


@pytest.mark.parametrize("name", sorted(path.stem for path in DOCS.glob("_site/[a-z]*.py")))
def test_the_examples_in_our_extensions_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert not doctest.testmod(importlib.import_module(f"_site.{name}"), optionflags=flags).failed
