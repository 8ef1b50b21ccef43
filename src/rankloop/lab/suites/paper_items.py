"""Experiments by id, and the numbered items of the documents that they repeat.

The items of a document, or of a chapter, are a TOML file in this folder, with the experiments that repeat
them; `general.toml` has the experiments that answer questions of our own. Reading them needs no more than
this file: what an experiment names is made when it runs.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from rankloop.errors import SettingError, suggest_name
from rankloop.naming import find_kind

VERDICTS = ("agrees", "partly", "no", "not tested", "definition", "needs data", "needs people")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A question with an id, and what answers it: a sweep, a computed table or a picture of data.

    Everything is a name, as the command line reads it. A sweep has users and policies; a table and a picture
    name the function that makes them. `main_metrics` are what a sweep is about, and `compare_with` says which
    policy each is held against. `measures` replace the usual ones, and `judges` teach some policies by
    grades. `groups` are those of documents in data that one names, `own_groups` those in the experiment's
    own data. Of the training queries the first `train_queries` are asked, or all. `notes` are plain text, and
    `found` is Markdown.

    >>> find_experiment("dsp/fig3c").main_metrics
    ['cosine to offline LambdaRank']
    """

    id: str
    source: str = ""  # the file that has it, without its ending
    question: str
    users: Sequence[str] = ()
    policies: Sequence[str] = ()
    main_metrics: Sequence[str] = ()
    compare_with: Mapping[str, str] = field(default_factory=dict)
    probes: Sequence[str] = ()
    measures: Sequence[str] = ()
    judges: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Any] | None = None
    own_groups: Mapping[str, Any] | None = None
    train_queries: int | None = None
    rounds: int = 5000
    quick_rounds: int = 200  # of a small version
    k: int = 10
    seeds: int = 5
    checkpoints: int = 50
    table: str = ""  # module:function
    picture: str = ""  # module:function
    data: Sequence[str] = ()
    notes: Sequence[str] = ()
    found: str = ""  # what was measured, unless an item says it

    @property
    def kind(self) -> str:
        """What answers the question: a sweep, a table or a picture."""
        return "table" if self.table else "picture" if self.picture else "sweep"


@dataclass(frozen=True, kw_only=True)
class PaperItem:
    """A numbered item of a document, such as a figure, and what came of repeating it."""

    key: str  # kind and number, as in "figure 3a"
    title: str
    section: str
    says: str  # what the document says
    verdict: str  # one of VERDICTS
    remark: str = ""
    found: str = ""  # what was measured, with data, rounds and seeds, as Markdown
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

    Those of one `page` are written on it together. A chapter has its number and a `subject`. `protocol` says
    in Markdown which data, users and settings the document has, and which stand for them here.

    >>> document = DOCUMENTS["pairrank_paper"]
    >>> document.year, document.items["figure 3"].experiments
    (2021, ['pairrank/fig3'])
    """

    name: str
    title: str
    authors: str
    where: str
    year: int
    page: str
    counts: Mapping[str, int]  # items of each kind
    items: Mapping[str, PaperItem]
    chapter: int = 0  # 0: the whole document
    subject: str = ""
    protocol: str = ""

    def count_verdicts(self) -> Mapping[str, int]:
        """Count the items of each verdict, in the order of `VERDICTS`."""
        found = Counter(item.verdict for item in self.items.values())
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}


def read_experiments(source: str, found: Mapping[str, Any]) -> dict[str, Experiment]:
    """Read the experiments of a file; in their lists, `$name` stands for a list of the file.

    >>> found = {"lists": {"two": ["pdgd", "mgd"]}, "experiments": {"a": {
    ...     "question": "?", "policies": ["$two", "random"], "compare_with": "next"}}}
    >>> read_experiments("mine.toml", found)["a"].compare_with
    {'pdgd': 'mgd', 'mgd': 'random'}
    """
    lists, experiments = found.get("lists", {}), {}
    for name, entry in found.get("experiments", {}).items():
        _check_fields(Experiment, entry, f"{source}: {name!r}")
        values = {key: _fill_in(value, lists) for key, value in entry.items()}
        if isinstance(rule := values.get("compare_with"), str):
            values["compare_with"] = _compare(rule, values["policies"], f"{source}: {name!r}")
        experiments[name] = Experiment(id=name, source=source.removesuffix(".toml"), **values)
    return experiments


def read_document(source: str, found: Mapping[str, Any]) -> PaperDocument:
    """Read the items of a file."""
    items = {key: _read_item(f"{source}: {key!r}", key, entry) for key, entry in found["items"].items()}
    name = source.removesuffix(".toml")
    return PaperDocument(name=name, items=MappingProxyType(items), **found["document"])


def find_experiment(name: str) -> Experiment:
    """Find the experiment with this id.

    >>> find_experiment("theory/table4.1").kind
    'table'
    """
    return find_kind(name, EXPERIMENTS, "experiment")


def find_items(experiment: Experiment) -> list[tuple[PaperDocument, PaperItem]]:
    """Find the items that an experiment repeats, each with its document."""
    return [
        (document, item)
        for document in DOCUMENTS.values()
        for item in document.items.values()
        if experiment.id in item.experiments
    ]


def _read_item(where: str, key: str, entry: Mapping[str, Any]) -> PaperItem:
    _check_fields(PaperItem, entry, where)
    item = PaperItem(key=key, **entry)
    if item.verdict not in VERDICTS:
        raise SettingError(
            f"{where}: the verdict must be one of {', '.join(VERDICTS)}, found {item.verdict!r}"
        )
    return item


def _check_fields(kind: type[Experiment | PaperItem], entry: Mapping[str, Any], where: str) -> None:
    known = {each.name for each in fields(kind)} - {"key", "id", "source"}
    for name in entry:
        if name not in known:
            raise SettingError(f"{where} has no field {name!r}: {suggest_name(name, known)}")


def _fill_in(value: Any, lists: Mapping[str, Sequence[str]]) -> Any:
    if not isinstance(value, list):
        return value
    named = ([each] if each[0] != "$" else find_kind(each[1:], lists, "list") for each in value)
    return [each for part in named for each in part]


def _compare(rule: str, policies: Sequence[str], where: str) -> dict[str, str]:
    """Compare each policy with the next one, or those that have settings with the same without."""
    if rule == "next":
        return dict(pairwise(policies))
    if rule == "without settings":
        return {name: name.partition("(")[0] for name in policies if "(" in name}
    raise SettingError(
        f'{where}: compare_with is "next", "without settings" or a table of policies, found {rule!r}'
    )


def _read_files() -> dict[str, dict[str, Any]]:
    folder = files("rankloop.lab.suites").iterdir()
    return {
        file.name: tomllib.loads(file.read_text("utf-8"))
        for file in sorted(folder, key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


_FILES = _read_files()
DOCUMENTS: Mapping[str, PaperDocument] = {
    source.removesuffix(".toml"): read_document(source, found)
    for source, found in _FILES.items()
    if "document" in found
}
EXPERIMENTS: Mapping[str, Experiment] = {
    name: experiment
    for source, found in _FILES.items()
    for name, experiment in read_experiments(source, found).items()
}
