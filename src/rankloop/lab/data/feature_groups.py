"""Groups of documents, made from a feature and a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from rankloop.bounds import Bound, Count, check_settings
from rankloop.errors import DataError, SettingError, suggest_name
from rankloop.lab.data.dataset import Dataset
from rankloop.lab.data.preparation import normalise_per_query
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray

GROUPS = ("A", "B")


@dataclass(frozen=True, kw_only=True)
class FeatureGroups:
    """Two groups by a feature: B where it is at most the threshold, as a share of its range in the query.

    The feature is numbered as in the file, from 1. A feature that is constant within a query is 0 there, so
    that all its documents are in B, if the threshold is not below 0. After that it is 0 for everybody: nobody
    shall learn from it whom a document belongs to.

    >>> made = QuerySet(np.array([[2.0, 5], [4, 7], [3, 9]]), np.array([0, 3]), np.array([0, 1, 0]), ("q",))
    >>> split = FeatureGroups(feature=1, threshold=0.5).split(made)
    >>> split.groups, split.features.tolist()
    (('B', 'A', 'B'), [[0.0, 5.0], [0.0, 7.0], [0.0, 9.0]])

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Section 3.1.3.
    """

    feature: Count
    threshold: Annotated[float, Bound(at_least=0, below=1)] = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no number of a feature, and thresholds that are no share."""
        check_settings(self)

    def split(self, queries: QuerySet) -> QuerySet:
        """Put the documents in groups, without the feature."""
        if self.feature > queries.n_features:
            raise DataError(
                f"groups by feature {self.feature}: the data has the features 1 to {queries.n_features}"
            )
        features = queries.features.copy()
        features[:, self.feature - 1] = 0.0
        groups = np.array(GROUPS)[self._in_second(queries).astype(np.intp)]
        return replace(queries, features=features, groups=tuple(groups.tolist()))

    def apply(self, dataset: Dataset) -> Dataset:
        """All parts of a dataset in groups; not yet prepared, it has its features by the file's numbers."""
        return dataset.map_parts(self.split, repr(self))

    def _in_second(self, queries: QuerySet) -> BoolArray:
        column = replace(queries, features=queries.features[:, [self.feature - 1]])
        return np.asarray(normalise_per_query(column).features[:, 0] <= self.threshold)


def parse_groups(text: str) -> FeatureGroups:
    """Read groups as the command line writes them.

    >>> parse_groups("feature=128,threshold=0")
    FeatureGroups(feature=128, threshold=0.0)
    """
    values: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or name not in ("feature", "threshold"):
            raise SettingError(
                f"groups are written feature=<number>,threshold=<number>, found {text!r}: "
                + suggest_name(name, ("feature", "threshold"))
            )
        values[name] = value
    try:
        return FeatureGroups(feature=int(values["feature"]), threshold=float(values.get("threshold", 0)))
    except (KeyError, ValueError) as error:
        if isinstance(error, SettingError):
            raise
        raise SettingError(
            f"groups are written feature=<number>,threshold=<number>, found {text!r}"
        ) from error
