"""Tables about policies, made from their classes: settings by family, settings of the papers, all policies.

They stand in the pages between `<!-- name -->` and `<!-- /name -->`. What only a person can say, such as what
a setting means, is the last column: it is kept as it stands in the page. `python docs/_site/policy_tables.py`
writes them again, and a test says when that is due.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rankloop.bounds import describe_bound, list_kinds, list_options
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.policies.paper_settings import PAPER
from rankloop.policy import Policy

DOCS = Path(__file__).parent.parent
FAMILIES = ("gradient", "pairwise", "neural", "dueling", "graded", "items", "ads", "fair", "baselines")
"""The pages in docs/policies; all but the last are named like the folder of their policies."""
CODE: Mapping[object, str] = {bool: "`True` or `False`", type(None): "`None`"}
EVERYTHING = "choose-a-policy.md"
PAPER_LINE = re.compile(r"(\w[^.:]*(?:et al\.)?): .+?[.?] ([^.]*\d{4})[^.]*\.")


def family_of(kind: type[Policy]) -> str:
    """The page of a policy: its folder, or the baselines.

    >>> from rankloop.policies import PDGD, Random
    >>> family_of(PDGD), family_of(Random)
    ('gradient', 'baselines')
    """
    folder = kind.__module__.split(".")[2]
    return folder if folder in FAMILIES else "baselines"


def family_members(family: str) -> list[type[Policy]]:
    """The policies of a page, in the order of their sections there."""
    text = (DOCS / "policies" / f"{family}.md").read_text("utf-8")
    members = {name: kind for name, kind in ALL_POLICIES.items() if family_of(kind) == family}
    order = [name for name in re.findall(r"^## (\w+)$", text, re.MULTILINE) if name in members]
    return [members[name] for name in dict.fromkeys([*order, *members])]


def link_to(kind: type[Policy], folder: str = "") -> str:
    """The link to the section of a policy, from the page of another family or with a folder before it.

    >>> from rankloop.policies import PairRank
    >>> link_to(PairRank, "policies/")
    '[`PairRank`](policies/pairwise.md#pairrank)'
    """
    return f"[`{kind.__name__}`]({folder}{family_of(kind)}.md#{kind.__name__.lower()})"


# Settings


def settings_table(kinds: Sequence[type[Policy]], said: Mapping[str, str]) -> str:
    """The settings of several policies: of which, what each may be, its default, and what is said of it."""
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for kind in kinds:
        hints = get_type_hints(kind, include_extras=True)
        for setting in own_settings(kind):
            value = f"`{default_of(setting)!r}`"
            rows.setdefault(setting.name, []).append((kind.__name__, describe(hints[setting.name]), value))
    lines = ["| setting | of | may be | default | meaning |", "|---|---|---|---|---|"]
    for name, each in rows.items():
        owners = "all" if len(each) == len(kinds) > 1 else ", ".join(owner for owner, _, _ in each)
        allowed = _by_owner([(owner, text) for owner, text, _ in each])
        default = _by_owner([(owner, text) for owner, _, text in each])
        lines.append(f"| `{name}` | {owners} | {allowed} | {default} | {said.get(name, '')} |")
    inherited = [
        f"`{kind.__name__}` also has the settings of {link_to(parent)}."
        for kind in kinds
        if (parent := lender(kind)) is not None
    ]
    return "\n".join([*lines, "", *inherited]).strip()


def own_settings(kind: type[Policy]) -> list[Field[Any]]:
    """The settings that the page of its family must tell: not those it has from a policy of another page."""
    parent = lender(kind)
    known = {each.name: default_of(each) for each in settings(parent)} if parent else {}
    return [each for each in settings(kind) if each.name not in known or known[each.name] != default_of(each)]


def lender(kind: type[Policy]) -> type[Policy] | None:
    """The nearest policy of another family that this one extends."""
    others = (each for each in kind.__mro__[1:] if ALL_POLICIES.get(each.__name__) is each)
    return next((each for each in others if family_of(each) != family_of(kind)), None)


def settings(kind: type[Policy]) -> list[Field[Any]]:
    """The settings of a policy; what it learned is none."""
    return [each for each in fields(kind) if each.init]


def default_of(setting: Field[Any]) -> object:
    """What a setting is when nobody gives it."""
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def describe(hint: Any) -> str:
    """What an annotation lets a setting be, in words; what one would write, as code.

    >>> describe(float | None), describe(Literal["adjacent", "all"])
    ('a number or `None`', "`'adjacent'` or `'all'`")
    """
    *others, last = dict.fromkeys(text for option in list_options(hint) for text in _texts(option))
    return f"{', '.join(others)} or {last}" if others else last


def _texts(option: Any) -> list[str]:
    if get_origin(option) is Literal:
        return [f"`{each!r}`" for each in get_args(option)]
    ours = sorted(each.__name__ for each in list_kinds(option) if each.__module__.startswith("rankloop."))
    return [f"`{each}`" for each in ours] or [CODE.get(option) or describe_bound(option)]


def _by_owner(told: Iterable[tuple[str, str]]) -> str:
    """One text if all owners have the same, otherwise each text with its owners."""
    owners: dict[str, list[str]] = {}
    for owner, text in told:
        owners.setdefault(text, []).append(owner)
    if len(owners) == 1:
        return next(iter(owners))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in owners.items())


# Settings of the papers


def papers_table(kinds: Sequence[type[Policy]]) -> str:
    """The settings of the papers for these policies: what is printed where, its grid, and what is ours."""
    names = {kind.__name__ for kind in kinds}
    lines = [
        "| name | settings | printed in | its grid | not printed, and ours |",
        "|---|---|---|---|---|",
    ]
    for name, paper in PAPER.items():
        grid = "; ".join(f"{setting}: {', '.join(values)}" for setting, values in paper.grid.items())
        tried = f"`{grid}`" if grid else "none"
        if paper.name in names:
            lines.append(f"| `{name}` | `{paper.policy}` | {paper.source} | {tried} | {paper.ours} |")
    return "\n".join(lines)


# All policies


def policies_table(said: Mapping[str, str]) -> str:
    """All policies by family: idea, signals, paper, and what a list costs."""
    lines = ["| policy | family | idea | learns from | paper | cost |", "|---|---|---|---|---|---|"]
    for family in FAMILIES:
        for kind in family_members(family):
            signals = ", ".join(kind.signals)
            idea = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
            row = [
                link_to(kind, "policies/"),
                family,
                idea,
                signals,
                paper_of(kind),
                said.get(kind.__name__, ""),
            ]
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def paper_of(kind: type[Policy]) -> str:
    """Authors and place of the papers at the end of a policy's docstring.

    >>> from rankloop.policies import PDGD, Race
    >>> paper_of(PDGD), paper_of(Race)
    ('Oosterhuis, de Rijke, CIKM 2018', 'none')
    """
    last = inspect.cleandoc(kind.__doc__ or "").rpartition("\n\n")[2].replace("\n", " ")
    found = [] if last.startswith(">>>") else PAPER_LINE.findall(last)
    return "; ".join(f"{authors}, {place}" for authors, place in found) or "none"


# Pages


def updated(page: Path) -> str:
    """The text of a page with its tables as they must be today."""

    def table(block: re.Match[str]) -> str:
        said = dict(re.findall(r"^\| \[?`(\w+)`.* \| (.*?) ?\|$", block["rows"], re.MULTILINE))
        match block["name"]:
            case "settings":
                made = settings_table(family_members(page.stem), said)
            case "papers":
                made = papers_table(family_members(page.stem))
            case _:
                made = policies_table(said)
        return f"<!-- {block['name']} -->\n\n{made}\n\n<!-- /{block['name']} -->"

    blocks = r"<!-- (?P<name>settings|papers|policies) -->\n(?P<rows>.*?)<!-- /(?P=name) -->"
    return re.sub(blocks, table, page.read_text("utf-8"), flags=re.DOTALL)


def pages() -> list[Path]:
    """The pages that hold such tables."""
    return [DOCS / EVERYTHING, *(DOCS / "policies" / f"{family}.md" for family in FAMILIES)]


def main() -> int:
    """Write all tables again."""
    for page in pages():
        page.write_text(updated(page), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
