"""Pages that a code host wants at the root of the repository, read as if they stood here.

A page that says `This page is [CONTRIBUTING.md](../CONTRIBUTING.md).` is that file; links to the file from
other pages lead to the page.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

STANDS_FOR = re.compile(r"This page is \[[\w.]+\]\((?P<file>\.\./[\w.]+)\)\.\s*")
LINK = re.compile(r"\[(?P<text>[^][]*)\]\((?P<path>[\w./-]+)(?P<anchor>#[\w-]+)?\)")


def root_pages(docs: Path) -> dict[Path, Path]:
    """Which file each such page stands for, by file."""
    found = {page: STANDS_FOR.fullmatch(page.read_text("utf-8")) for page in docs.glob("*.md")}
    return {(docs / match["file"]).resolve(): page for page, match in found.items() if match}


def moved(text: str, *, origin: Path, page: Path, pages: dict[Path, Path]) -> str:
    """A text written in one folder, with its links as they must be on a page; a folder has no page."""

    def link(match: re.Match[str]) -> str:
        target = (origin / match["path"]).resolve()
        if target.is_dir():
            return match["text"]
        path = os.path.relpath(pages.get(target, target), page.parent)
        return f"[{match['text']}]({path}{match['anchor'] or ''})"

    return LINK.sub(link, text)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Read a page, or the file it stands for, with links that hold on the site."""
    pages = root_pages(Path(app.srcdir))
    page = Path(app.env.doc2path(docname)).resolve()
    file = next((file for file, stand_in in pages.items() if stand_in == page), page)
    if file != page:
        source[0] = file.read_text("utf-8")
        app.env.note_dependency(str(file), docname=docname)
    source[0] = moved(source[0], origin=file.parent, page=page, pages=pages)


def setup(app: Sphinx) -> dict[str, Any]:
    """Read along."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
