"""The table of contents is the front page: its headings are captions, the pages it links are entries."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

LINK = re.compile(r"\[([^][]+)\]\((?!\.\.)([\w./-]+)\.md(?:#[\w-]+)?\)")


def toctrees(page: str) -> str:
    r"""A hidden toctree for each section of a page that links to pages, each page where it is first linked.

    A page is called what the link says or, if that is code, what its own title says.

    >>> page = "# Top\n## Use\n[A](a.md), [`b`](b.md#x)\n## Why\n[A](a.md) [C](c/d.md) [out](../e.md)"
    >>> print(toctrees(page))
    ```{toctree}
    :hidden:
    :caption: Use
    A <a>
    b
    ```
    <BLANKLINE>
    ```{toctree}
    :hidden:
    :caption: Why
    C <c/d>
    ```
    """
    seen: set[str] = set()
    found = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        caption, _, text = section.partition("\n")
        links = [(words, name) for words, name in LINK.findall(text) if name not in seen]
        seen.update(name for _, name in links)
        entries = [name if "`" in words else f"{words} <{name}>" for words, name in links]
        if entries:
            found.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", *entries, "```"]))
    return "\n\n".join(found)


def add(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the table of contents to the front page."""
    if docname == app.config.root_doc:
        source[0] += "\n\n" + toctrees(source[0]) + "\n"


def setup(app: Sphinx) -> dict[str, Any]:
    """Read along, last of all."""
    app.connect("source-read", add, priority=900)  # links are as they will be
    return {"parallel_read_safe": True, "parallel_write_safe": True}
