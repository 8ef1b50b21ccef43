"""Tables of settings, made from the records that check them: title, what it does, what it may be, default.

`python docs/_site/settings_tables.py` writes them into the pages again.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from rankloop.service import FairSettings, PromiseSettings, RankerSettings, TrialSettings
from rankloop.service.core.settings_fields import SettingField, fields_of
from rankloop.service.core.settings_record import Settings

DOCS = Path(__file__).parents[1]
KINDS: dict[str, type[Settings]] = {
    each.__name__: each for each in (FairSettings, PromiseSettings, RankerSettings, TrialSettings)
}
PAGES = ("service.md", "howto/guardrails.md")
BLOCK = re.compile(r"<!-- settings of (?P<kind>\w+) -->\n.*?<!-- /settings -->", re.DOTALL)


def settings_table(kind: type[Settings]) -> str:
    """Write the table of a record, with a row for each field; of a record with a table of its own, just one.

    >>> print(settings_table(PromiseSettings).splitlines()[2])
    | `share` | Promised share. Share of your order's searches ... | a number above 0 and below 1 | `0.95` |
    """
    own = {each.removesuffix("Settings").lower() for each in KINDS}
    rows = [
        _row(each) for each in fields_of(kind) if each.name.partition(".")[0] not in own or each.is_record
    ]
    return "\n".join(["| name | what it does | values | default |", "|---|---|---|---|", *rows])


def _row(field: SettingField) -> str:
    words = f"{field.title}. {field.description}"
    meanings = [f"{_code(value)}: {meaning}" for value, meaning in field.values.items()]
    expected = field.expected if not field.unit else f"{field.expected}, {field.unit}"
    values = "; ".join([] if field.is_record else [expected, *meanings])
    default = "" if field.is_record and not field.takes_null else f"`{json.dumps(field.default)}`"
    return f"| `{field.name}` | {words} | {values} | {default} |"


def _code(value: str) -> str:
    return value if " " in value and not value.startswith("{") else f"`{value}`"


def updated(page: Path) -> str:
    """Write the text of a page with its tables as they must be today."""

    def block(found: re.Match[str]) -> str:
        name = found["kind"]
        return f"<!-- settings of {name} -->\n\n{settings_table(KINDS[name])}\n\n<!-- /settings -->"

    return BLOCK.sub(block, page.read_text("utf-8"))


def pages() -> list[Path]:
    """List the pages that hold such tables."""
    return [DOCS / page for page in PAGES]


def main() -> int:
    """Write all tables again."""
    for page in pages():
        page.write_text(updated(page), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
