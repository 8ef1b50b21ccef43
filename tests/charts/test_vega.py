"""The drawing library is what its notice says, and whoever shows charts loads nothing that makes them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import subprocess
import sys

import vl_convert

from rankloop.charts import read_vega

NOTICE, _, BUNDLE = read_vega().partition("*/\n")


def test_the_library_is_the_bundle_that_its_notice_names() -> None:
    version, digest = re.findall(r"vl-convert (\S+) bundles|notice: ([0-9a-f]{64})", NOTICE)
    assert hashlib.sha256(BUNDLE.encode()).hexdigest() == digest[1]
    if importlib.metadata.version("vl-convert-python") == version[0]:  # another may bundle other versions
        assert vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;") == BUNDLE


def test_the_library_can_stand_inside_a_page() -> None:
    assert NOTICE.startswith("/*!")
    assert "</script" not in read_vega().lower()


def test_pages_load_no_library_of_charts() -> None:
    heavy = {"altair", "vl_convert", "vegafusion", "rankloop.lab.report"}
    program = f"import sys, rankloop.service.pages\nsys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_charts_load_nothing_but_the_standard_library() -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nimport rankloop.charts\n"
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "sys.exit(', '.join(loaded - {'rankloop'} - sys.stdlib_module_names) or 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
