"""Pages about the documents, made of their items: a page for each, a list of experiments, and an index.

`python -m rankloop.lab.suites.paper_pages docs/papers` writes them, and a test says when that is due. What
they say stands in the TOML files of this folder.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rankloop.lab.suites.page_texts import AFTER, COUNTED, INDEX, MEANINGS, READING, RUNNING, WRITTEN
from rankloop.lab.suites.paper_items import (
    DOCUMENTS,
    EXPERIMENTS,
    VERDICTS,
    Experiment,
    PaperDocument,
    PaperItem,
    find_items,
)

PAGES = ("pairrank", "neural-online", "jia-thesis", "document-space-projection", "chaudhuri-thesis")
SECTIONS = {
    "Figures and tables": ("figure", "table"),
    "Algorithms": ("algorithm",),
    "Questions": ("question",),
    "Methods": ("method", "estimator", "protocol"),
    "Results": ("theorem", "lemma", "corollary", "proposition", "result", "claim", "remark"),
    "Definitions and equations": ("definition", "assumption", "equation"),
}
IN_FULL = ("Figures and tables", "Algorithms", "Questions")  # sections whose items have a heading each
LONG = 25  # rows of a table that is not folded


def build_pages() -> dict[str, str]:
    """Build the text of every page, by the name of its file."""
    pages = {f"{page}.md": _build_document(page) for page in PAGES}
    return pages | {"experiments.md": _build_experiments(), "index.md": _build_index()}


def write_paper_pages(folder: Path) -> list[Path]:
    """Write all pages into a folder, which is `docs/papers`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in build_pages().items():
        paths.append(folder / name)
        paths[-1].write_text(text, "utf-8")
    return paths


def parts_of(page: str) -> list[PaperDocument]:
    """List the documents of a page: a paper, or the chapters of a thesis.

    >>> [part.chapter for part in parts_of("jia-thesis")]
    [2, 3, 4]
    """
    parts = [document for document in DOCUMENTS.values() if document.page == page]
    return sorted(parts, key=lambda document: document.chapter)


# Documents


def _build_document(page: str) -> str:
    parts = parts_of(page)
    first = parts[0]
    texts = [
        f"# {first.title}",
        WRITTEN,
        f"{first.authors}: *{first.title}*. {first.where} {first.year}.",
        f"[How to read this page](index.md#how-to-read-the-pages). {_count_in_words(parts)}",
    ]
    for part in parts:
        texts += _describe_part(part)
    others = [
        f"[Experiments](experiments.md#{_anchor(_name_source(first))})",
        "[The papers, figure by figure](index.md)",
    ]
    return _join([*texts, "## Where next", " · ".join(others)])


def _describe_part(part: PaperDocument) -> list[str]:
    """Describe a paper, or a chapter with a heading of its own."""
    texts = [f"## {_name_part(part)}"] if part.chapter else []
    level, of = ("###", f" of chapter {part.chapter}") if part.chapter else ("##", "")
    for section, kinds in SECTIONS.items():
        items = [item for item in part.items.values() if item.kind in kinds]
        if not items:
            continue
        texts.append(f"{level} {section}{of}")
        if section in IN_FULL:
            texts += [_list_verdicts(items)] if len(items) > 1 else []
            texts += [text for item in items for text in _describe_item(item, f"{level}#")]
        else:
            rows = [_describe_row(item) for item in items]
            texts.append(
                _tabulate(["item", "the document says", "verdict", "what we found, and where"], rows)
            )
    return [*texts, f"{level} Data, users and settings{of}", part.protocol] if part.protocol else texts


def _list_verdicts(items: Sequence[PaperItem]) -> str:
    """List items that have a heading each, so that a reader finds one."""
    names = [_name_item(item) for item in items]
    rows = [[f"[{name}](#{_anchor(name)})", item.verdict] for name, item in zip(names, items, strict=True)]
    return _tabulate(["item", "verdict"], rows)


def _describe_item(item: PaperItem, level: str) -> list[str]:
    """Describe an item below a heading of its own."""
    verdict = f"**{item.verdict.capitalize()}.** {_escape(item.remark)}".strip()
    texts = [
        f"{level} {_name_item(item)}",
        f"*The document says* (section {item.section}): {_escape(item.says)}",
    ]
    return [each for each in (*texts, verdict, item.found.strip(), _point(item)) if each]


def _describe_row(item: PaperItem) -> list[str]:
    found = " ".join(each for each in (_escape(item.remark), item.found.strip(), _point(item)) if each)
    return [f"**{_name_item(item)}** ({item.section})", _escape(item.says), item.verdict, found]


def _point(item: PaperItem) -> str:
    """Say where an item is repeated, programmed, tested and explained."""
    named = {
        "Run": [f"`rankloop lab run {each}`" for each in item.experiments],
        "Policies": [f"`{each}`" for each in item.policies],
        "Recommenders": [f"`{each}`" for each in item.recommenders],
        "Code": [f"`{each.replace(':', '.')}`" for each in item.code],
        "Tests": [f"`{each}`" for each in item.tests],
        "See": [f"[{each}](../{each.removeprefix('docs/')})" for each in item.pages],
    }
    return " ".join(f"{what}: {', '.join(each)}." for what, each in named.items() if each)


def _name_item(item: PaperItem) -> str:
    """Name an item with its number, if the document gives one."""
    if not item.numbered:
        return _escape(item.title)
    return f"{item.key[0].upper()}{item.key[1:]}: {_escape(item.title)}"


def _name_part(part: PaperDocument) -> str:
    return f"Chapter {part.chapter}: {part.subject}" if part.chapter else part.title


def _name_source(part: PaperDocument) -> str:
    """Name a document where others stand beside it.

    >>> _name_source(DOCUMENTS["jia_fairness"])
    "Jia's thesis, chapter 3: Fair exposure"
    """
    return f"{part.authors}'s thesis, chapter {part.chapter}: {part.subject}" if part.chapter else part.title


def _count_in_words(parts: Sequence[PaperDocument]) -> str:
    counts = {verdict: sum(part.count_verdicts().get(verdict, 0) for part in parts) for verdict in VERDICTS}
    listed = ", ".join(
        f"{count} {words}" for count, words in zip(counts.values(), COUNTED, strict=True) if count
    )
    return f"{sum(counts.values())} items: {listed}."


# Experiments and the index


def _build_experiments() -> str:
    texts = [RUNNING]
    for page in PAGES:
        for part in parts_of(page):
            texts += _list_experiments(_name_source(part), part.name)
    return _join([*texts, *_list_experiments("Questions of our own", "general"), AFTER])


def _list_experiments(title: str, source: str) -> list[str]:
    """List the experiments of a file, with what else to know about them below the table."""
    listed = [experiment for experiment in EXPERIMENTS.values() if experiment.source == source]
    if not listed:
        return []
    rows = [[f"`{each.id}`", each.question, _measure_size(each), _name_items(each)] for each in listed]
    noted: dict[str, list[str]] = {}
    for each in listed:
        for note in each.notes:
            noted.setdefault(_escape(note), []).append(f"`{each.id}`")
    notes = [f"- {', '.join(ids)}: {note}" for note, ids in noted.items()]
    found = [each.found for each in listed if each.found]
    table = _tabulate(["id", "question", "what it runs", "repeats"], rows)
    return [f"## {title}", table, *(["\n".join(notes)] if notes else []), *found]


def _measure_size(experiment: Experiment) -> str:
    """Say how large an experiment is.

    >>> _measure_size(EXPERIMENTS["pairrank/fig7"])
    '2 policies, 3 users, 5,000 rounds, 5 seeds'
    """
    if experiment.kind != "sweep":
        return f"{experiment.kind} of {', '.join(f'`{each}`' for each in experiment.data) or 'definitions'}"
    counts = {
        "policy": len(experiment.policies),
        "user": len(experiment.users),
        "round": experiment.rounds,
        "seed": experiment.seeds,
    }
    plural = {"policy": "policies"}
    named = [f"{n:,} {word if n == 1 else plural.get(word, f'{word}s')}" for word, n in counts.items()]
    return ", ".join(named)


def _name_items(experiment: Experiment) -> str:
    """Link the items that an experiment repeats."""
    links = []
    for document, item in find_items(experiment):
        name = item.key if item.numbered else item.title
        full = any(item.kind in SECTIONS[section] for section in IN_FULL)
        anchor = f"#{_anchor(_name_item(item))}" if full else ""
        links.append(f"[{name}]({document.page}.md{anchor})")
    return ", ".join(dict.fromkeys(links))


def _build_index() -> str:
    rows = []
    for page in PAGES:
        for part in parts_of(page):
            anchor = f"#{_anchor(_name_part(part))}" if part.chapter else ""
            place = f"[{_name_source(part)}]({page}.md{anchor})"
            found = part.count_verdicts()
            counts = [str(found.get(verdict, "")) for verdict in VERDICTS]
            rows.append([place, f"{part.authors}. {part.where} {part.year}", str(len(part.items)), *counts])
    table = _tabulate(["document", "by", "items", *VERDICTS], rows)
    meanings = _tabulate(
        ["verdict", "means"], [[f"**{verdict}**", MEANINGS[verdict]] for verdict in VERDICTS]
    )
    return _join([INDEX, table, meanings, READING])


# Markdown


def _tabulate(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table, folded if it is long."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    table = "\n".join([f"| {' | '.join(headings)} |", "|---" * len(headings) + "|", *lines])
    if len(lines) <= LONG:
        return table
    return f"<details>\n<summary>All {len(lines)}</summary>\n\n{table}\n\n</details>"


def _escape(text: str) -> str:
    r"""Keep a plain text plain in Markdown.

    >>> _escape("|a| of w* < 1")
    '\\|a\\| of w\\* \\< 1'
    """
    return re.sub(r"([|*<~])", r"\\\1", text)


def _anchor(heading: str) -> str:
    """Name the place of a heading as code hosts do.

    >>> _anchor("Figure 3a: Trust in the direction, online")
    'figure-3a-trust-in-the-direction-online'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _join(texts: Iterable[str]) -> str:
    return "\n\n".join(text.strip() for text in texts) + "\n"


if __name__ == "__main__":
    write_paper_pages(Path(sys.argv[1]))
