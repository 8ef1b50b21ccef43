"""State fields that declare themselves: where their features are, and what a new feature starts as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankloop.errors import RankingError
from rankloop.types import Array

NewValue: TypeAlias = Callable[[Any], float]  # from the policy to a value


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a state field says of its array; `None` for the axes: nothing was said."""

    feature_axes: tuple[int, ...] | None = None
    new_value: NewValue | None = None
    leading: int = 0
    rewritten: bool = False


UNDECLARED = Declaration()
KEY = "rankloop.state"


def state(
    shape: tuple[int, ...] = (),
    dtype: npt.DTypeLike = np.float64,
    *,
    feature_axes: tuple[int, ...] | None = None,
    new_value: NewValue | None = None,
    leading: int = 0,
    rewritten: bool = False,
) -> Any:
    """Declare a field of a policy's state: zeros of this shape, until `learn` replaces them.

    `feature_axes` are the axes along which the array has an entry for every feature, after `leading` others;
    `()`: there are none. Of an array with axes that says nothing nobody knows what more features would do to
    it, and the policy cannot take more.
    What the entries of a new feature are is computed from the policy by `new_value`: 0, if nothing is said;
    where two axes are features, that value stands on the diagonal. An array that is `rewritten` may be
    written in place by `learn`: a memory of past lists, which would take too long to copy.

    >>> from rankloop.policies import PDGD
    >>> policy = PDGD().from_state({**PDGD().state(), "parameters": np.array([0.5])})
    >>> policy.widened(3).parameters.tolist()
    [0.5, 0.0, 0.0]
    """
    said = Declaration(feature_axes, new_value, leading, rewritten)
    return field(
        default_factory=partial(np.zeros, shape, dtype), init=False, repr=False, metadata={KEY: said}
    )


def declaration(of: Field[Any]) -> Declaration:
    """Read what a state field says of its array."""
    said: Declaration = of.metadata.get(KEY, UNDECLARED)
    return said


def can_widen(of: Field[Any], value: Array) -> bool:
    """Whether it is known what more features would do to a state field with this value."""
    return declaration(of).feature_axes is not None or not value.ndim


def widened(of: Field[Any], policy: object, n_features: int) -> Array:
    """Widen the value of a state field: had the new features been there from the start and always been 0."""
    value, said = np.array(getattr(policy, of.name)), declaration(of)
    axes = said.feature_axes or ()
    if not axes or _nothing_learned(of, value, said):
        return value
    known = value.shape[axes[0]] - said.leading
    grown = padded(value, axes, n_features - known)
    if said.new_value is not None:
        fresh = said.leading + np.arange(known, n_features)  # on two axes: the diagonal
        where = tuple(fresh if axis in axes else slice(None) for axis in range(value.ndim))
        grown[where] = said.new_value(policy)
    return grown


def padded(value: Array, axes: tuple[int, ...], more: int) -> Array:
    """Pad the array with so many zeros more at the end of these axes.

    >>> padded(np.ones((1, 2)), (1,), 1).tolist()
    [[1.0, 1.0, 0.0]]
    """
    if more < 0:
        raise RankingError(f"a ranker cannot do with {-more} features fewer than it knows: expected more")
    return np.pad(value, [(0, more if axis in axes else 0) for axis in range(value.ndim)])


def _nothing_learned(of: Field[Any], value: Array, said: Declaration) -> bool:
    """Whether an array is as it was made, before anybody knew how many features there are."""
    empty = not any(value.shape[axis] > said.leading for axis in said.feature_axes or ())
    return empty and value.shape == of.default_factory().shape  # type: ignore[operator]
