"""Docstrings as reST: they are written with `code` and $formulas$, to be read in the source."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import msgspec
from sphinx.application import Sphinx

PART = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<formula>[^$]+)\$|`(?P<code>[^`]+)`", re.DOTALL)
NOTE = re.compile(r"^    (\w+): .*?  # (.+)$", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_][\w.]*")


def to_rest(docstring: str) -> str:
    r"""The same text in reST; sessions stay as they are, and names become links where they lead somewhere.

    >>> to_rest("The share $r_i$ of `x + 1`, see `NDCG`.")
    'The share \\ :math:`r_i`\\  of \\ ``x + 1``\\ , see \\ :py:obj:`NDCG`\\ .'
    """
    paragraphs = re.split(r"\n[ \t]*\n", docstring)
    return "\n\n".join(each if each.lstrip().startswith(">>>") else _prose(each) for each in paragraphs)


def _prose(paragraph: str) -> str:
    found, end = [], 0
    for match in PART.finditer(paragraph):
        found += [_words(paragraph[end : match.start()]), _part(match)]
        end = match.end()
    return "".join([*found, _words(paragraph[end:])])


def _words(text: str) -> str:
    """Plain words: what only reST would read as markup is escaped."""
    return re.sub(r"\||_(?!\w)|\*\*?(?=\w+[,):])", r"\\\g<0>", text)


def _part(match: re.Match[str]) -> str:
    block, formula, code = match.group("block", "formula", "code")
    if block:
        return "\n\n.. math::\n\n    " + " ".join(block.split()) + "\n\n"
    if formula:
        return rf"\ :math:`{formula}`" + "\\ "
    return (rf"\ :py:obj:`{code}`" if NAME.fullmatch(code) else rf"\ ``{code}``") + "\\ "


def field_notes(kind: type) -> str:
    """What the comments beside the fields of a dataclass say, as a list.

    >>> from rankloop.types import Ranking
    >>> print(field_notes(Ranking))
    - `order`: [k] rows of query.features, best first
    """
    settings = [each.name for each in dataclasses.fields(kind) if each.init]
    notes = dict(NOTE.findall(inspect.getsource(kind)))
    return "\n".join(f"- `{name}`: {notes[name]}" for name in settings if name in notes)


def convert(*event: Any) -> None:
    """Put the converted docstring in the place of the docstring, the last argument of autodoc's event."""
    _, _, _, kind, _, lines = event
    notes = field_notes(kind) if isinstance(kind, type) and dataclasses.is_dataclass(kind) else ""
    lines[:] = to_rest("\n".join([*lines, "", notes])).split("\n")


def name_fields(*event: Any) -> tuple[str, str] | None:
    """Give the signature of a record without the bounds and descriptions in the types of its fields."""
    _, _, _, kind, _, signature, _ = event
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)) or not signature:
        return None
    fields = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in inspect.signature(kind).parameters.values()
    ]
    return str(inspect.Signature(fields)), ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to autodoc."""
    app.connect("autodoc-process-signature", name_fields)
    app.connect("autodoc-process-docstring", convert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
