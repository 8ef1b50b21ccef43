"""Formulas as MathML, made by Docutils when the site is built: no script, no font, no network."""

from __future__ import annotations

import re
from typing import Any, cast

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOG = logging.getLogger(__name__)


def mathml(node: nodes.math | nodes.math_block, *, block: bool) -> str:
    """The formula of a node; one that Docutils does not understand is a warning."""
    try:
        drawn = cast(str, tex2mathml(node.astext(), as_block=block))
        # Browsers stretch the second bar of a norm below the line if it has an index.
        return re.sub(r"<mo[^>]*>‖</mo>", '<mo stretchy="false">‖</mo>', drawn)
    except MathError as error:
        LOG.warning("%s in the formula %s", error, node.astext(), location=node)
        return ""


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    """A formula in running text."""
    writer.body.append(mathml(node, block=False))
    raise nodes.SkipNode


def display(writer: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on a line of its own; one that is too wide scrolls by itself."""
    style = "overflow: auto hidden; padding-block: 0.3em"
    writer.body.append(f'<div class="math" style="{style}">{mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
