"""How the documentation becomes a site: Sphinx reads the Markdown as it is; `make docs` builds it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from rankloop import __version__

project = "rankloop"
author = "The rankloop authors"
project_copyright = "the rankloop authors, Apache 2.0"
release = version = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "_site.cli_reference",
    "_site.contents",
    "_site.docstrings",
    "_site.http_api",
    "_site.mathml",
    "_site.root_pages",
]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types and words that have no page of their own stay plain

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # links to headings, as on a code host

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name for name in ("FloatArray", "IntArray", "BoolArray", "Array", "State", "Mode", "Scaling")
}
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
pygments_dark_style = "github-dark"
html_math_renderer = "mathml"
html_title = "rankloop"
html_show_sourcelink = False
html_copy_source = False
