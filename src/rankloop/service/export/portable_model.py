"""Portable model: the scores of a ranker as plain arrays, with lists on which a copy can be checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from rankloop.errors import RankloopError
from rankloop.types import FloatArray

PortableScaling: TypeAlias = Literal["query", "running"]
Network: TypeAlias = tuple[FloatArray, ...]  # matrices [n_out, n_in], rectified between


_none = partial(np.zeros, 0)


class NotPortable(RankloopError):
    """A model that a format cannot say exactly, and what to do instead."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredList:
    """Candidates of one list in the caller's own order, and the scores that the service gives them."""

    features: FloatArray  # [n, m], NaN = missing
    scores: FloatArray  # [n]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PortableModel:
    r"""Scores $s = b + v c + \frac1N \sum_i g_i(c, z)$ of the candidates of a list.

    $c = -\log_2(1 + \text{rank})$ is the caller's own order, $z$ are the scaled features, and $g_i$ networks
    of rectified units; a linear model is one network with one matrix. Scaling `query` maps each feature to
    0..1 between the least and the greatest of the list; `running` is $(x - \text{mean}) / \text{deviation}$,
    cut off at `farthest`, and 0 where the deviation is. In both, a missing feature is 0.

    >>> model = PortableModel(names=("price",), networks=((np.array([[0.0, -2.0]]),),), scaling="query")
    >>> model.score(np.array([[10.0], [20.0], [15.0], [np.nan]])).tolist()
    [0.0, -2.0, -1.0, 0.0]
    """

    names: tuple[str, ...]  # [m] features by column
    networks: tuple[Network, ...]  # the first matrix of each has 1 + m columns: the order, then the features
    scaling: PortableScaling
    mean: FloatArray = field(default_factory=_none)  # [m], of running
    deviation: FloatArray = field(default_factory=_none)  # [m]
    farthest: float = math.inf
    skip: float = 0.0  # v
    constant: float = 0.0  # b
    ranker: str = "default"
    policy: str = ""
    version: int = 0
    learned_from: int = 0  # lists
    lists: tuple[ScoredList, ...] = ()  # to check a copy on
    logged: int = 0  # how many of them, the first, were really shown

    @property
    def linear(self) -> bool:
        """Whether every network is one matrix."""
        return all(len(network) == 1 for network in self.networks)

    @property
    def weights(self) -> FloatArray:
        """The weights of a linear model: the order's, then the features', [1 + m]."""
        found: FloatArray = np.mean([network[0][0] for network in self.networks], axis=0)
        found[0] += self.skip
        return found

    @property
    def by_document(self) -> bool:
        """Whether a candidate's score depends on nothing but its own features."""
        first = np.concatenate([network[0][:, 0] for network in self.networks])
        return self.scaling == "running" and not self.skip and not first.any()

    def scaled(self, raw: FloatArray) -> FloatArray:
        """The features of a list as the networks see them, [n, m]; nothing is missing any more."""
        if self.scaling == "query":
            least, most = np.fmin.reduce(raw, axis=0), np.fmax.reduce(raw, axis=0)
            found = (raw - least) / np.where(most > least, most - least, 1.0)
        else:
            known = self.deviation > 0
            found = np.where(known, (raw - self.mean) / np.where(known, self.deviation, 1.0), 0.0)
            found = np.clip(found, -self.farthest, self.farthest)
        return np.where(np.isnan(found), 0.0, found)

    def score(self, raw: FloatArray) -> FloatArray:
        """Scores of the candidates of a list in the caller's own order, [n]: what a copy must give."""
        order = -np.log2(np.arange(2.0, 2.0 + len(raw)))
        seen = np.column_stack([order, self.scaled(raw)])
        scores = np.mean([_through(network, seen) for network in self.networks], axis=0)
        return np.asarray(self.constant + self.skip * order + scores)

    def to_json(self) -> dict[str, Any]:
        """As JSON; what is missing is null."""
        return {
            **{name: getattr(self, name) for name in PLAIN},
            "names": list(self.names),
            "farthest": None if math.isinf(self.farthest) else self.farthest,
            "mean": self.mean.tolist(),
            "deviation": self.deviation.tolist(),
            "networks": [[matrix.tolist() for matrix in network] for network in self.networks],
            "lists": [
                {"features": _with_nulls(each.features), "scores": each.scores.tolist()}
                for each in self.lists
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """From JSON, as `to_json` makes it."""
        width = len(data["names"])
        return cls(
            **{name: data[name] for name in PLAIN},
            names=tuple(data["names"]),
            farthest=math.inf if data["farthest"] is None else data["farthest"],
            mean=np.array(data["mean"], np.float64),
            deviation=np.array(data["deviation"], np.float64),
            networks=tuple(tuple(np.array(each, np.float64) for each in net) for net in data["networks"]),
            lists=tuple(
                ScoredList(
                    np.array(each["features"], np.float64).reshape(len(each["scores"]), width),
                    np.array(each["scores"], np.float64),
                )
                for each in data["lists"]
            ),
        )


PLAIN = ("scaling", "skip", "constant", "ranker", "policy", "version", "learned_from", "logged")


def _through(network: Network, seen: FloatArray) -> FloatArray:
    for matrix in network[:-1]:
        seen = np.maximum(seen @ matrix.T, 0.0)
    return np.asarray((seen @ network[-1].T)[:, 0])


def _with_nulls(features: FloatArray) -> list[list[float | None]]:
    return [[None if math.isnan(value) else value for value in row] for row in features.tolist()]
