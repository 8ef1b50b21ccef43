"""Numbered items of the documents: what each says, where it stands here, and whether both agree.

The items of a document, or of a chapter, are a TOML file in this folder.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from rankloop.errors import SettingError, suggest_name

DOCUMENTS = (
    *("neural_paper", "pairrank_paper", "projection_paper"),
    *("chaudhuri_grades", "chaudhuri_top_k", "chaudhuri_bounds", "chaudhuri_ads"),
    *("jia_exploration", "jia_fairness", "jia_recommendation"),
)
VERDICTS = ("agrees", "partly", "no", "not tested", "definition", "needs data", "needs people")


@dataclass(frozen=True, kw_only=True)
class PaperItem:
    """A numbered item of a document, such as a figure, and what came of repeating it."""

    key: str  # kind and number, as in "figure 3a"
    title: str
    section: str
    says: str  # what the document says
    verdict: str  # one of VERDICTS
    remark: str = ""
    numbered: bool = True  # False: the document gives no number, and the key has a name instead
    experiments: Sequence[str] = ()  # ids of experiments that repeat it
    policies: Sequence[str] = ()
    recommenders: Sequence[str] = ()
    code: Sequence[str] = ()  # module:name
    tests: Sequence[str] = ()
    pages: Sequence[str] = ()

    @property
    def kind(self) -> str:
        """Kind of the item, such as figure or lemma."""
        return self.key.partition(" ")[0]

    @property
    def has_home(self) -> bool:
        """Whether an experiment, a name in the code, a test or a page stands for it."""
        homes = (self.experiments, self.policies, self.recommenders, self.code, self.tests, self.pages)
        return any(homes)


@dataclass(frozen=True, kw_only=True)
class PaperDocument:
    """A document, or a chapter of one, with its items by key.

    >>> document = read_document("pairrank_paper")
    >>> document.year, document.items["figure 3"].experiments
    (2021, ['pairrank/fig3'])
    """

    name: str
    title: str
    authors: str
    where: str
    year: int
    counts: Mapping[str, int]  # items of each kind
    items: Mapping[str, PaperItem]

    def count_verdicts(self) -> Mapping[str, int]:
        """Count the items of each verdict, in the order of `VERDICTS`."""
        found = Counter(item.verdict for item in self.items.values())
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}


@cache
def read_document(name: str) -> PaperDocument:
    """Read a document of `DOCUMENTS`."""
    if name not in DOCUMENTS:
        raise SettingError(f"no document is called {name!r}: {suggest_name(name, DOCUMENTS)}")
    text = files("rankloop.lab.suites").joinpath(f"{name}.toml").read_text("utf-8")
    found = tomllib.loads(text)
    items = {key: _read_item(name, key, entry) for key, entry in found["items"].items()}
    return PaperDocument(name=name, items=MappingProxyType(items), **found["document"])


def _read_item(document: str, key: str, entry: Mapping[str, object]) -> PaperItem:
    known = {each.name for each in fields(PaperItem)} - {"key"}
    for name in entry:
        if name not in known:
            raise SettingError(f"{document}.toml: {key!r} has no field {name!r}: {suggest_name(name, known)}")
    item = PaperItem(key=key, **entry)  # type: ignore[arg-type]
    if item.verdict not in VERDICTS:
        raise SettingError(
            f"{document}.toml: the verdict of {key!r} must be one of {', '.join(VERDICTS)}, "
            f"found {item.verdict!r}"
        )
    return item
