"""A setting is what its annotation says, and an error says what that is."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from math import inf, nan
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.bounds import (
    Bound,
    Count,
    Factor,
    Natural,
    NonNegative,
    Positive,
    Probability,
    check_settings,
    describe_bound,
    fits,
)
from rankloop.errors import SettingError

SMALLEST = 5e-324  # above 0
NUMBERS: dict[Any, tuple[str, list[float], list[float]]] = {
    Positive: ("a finite number above 0", [SMALLEST, 1, 1e308], [0, -0.0, -1, inf]),
    NonNegative: ("a finite number of at least 0", [0, -0.0, SMALLEST, 7], [-SMALLEST, inf]),
    Probability: ("a number from 0 to 1", [0, 0.5, 1], [-SMALLEST, 1 + 1e-15]),
    Factor: ("a number above 0 and at most 1", [SMALLEST, 1], [0, 1 + 1e-15]),
    Count: ("a whole number of at least 1", [1, 10**30], [0, -1, 1.0]),
    Natural: ("a whole number of at least 0", [0, 10**30], [-1, 0.0, 0.5]),
    Annotated[float, Bound(above=0, below=1)]: ("a number above 0 and below 1", [0.5], [0, 1]),
    Annotated[float, Bound(above=0, at_most=inf)]: ("a number above 0", [1, inf], [0, -inf]),
    Annotated[int, Bound(at_least=2, at_most=8)]: ("a whole number from 2 to 8", [2, 8], [1, 9, 2.0]),
    float: ("a number", [0, -1.5, inf, 10**300], [10**400]),
    int: ("a whole number", [-3], [3.0]),
}


@pytest.mark.parametrize("hint", NUMBERS)
def test_a_bound_takes_the_numbers_inside_and_its_words_say_which(hint: Any) -> None:
    words, inside, outside = NUMBERS[hint]
    assert describe_bound(hint) == words
    assert [each for each in inside if not fits(each, hint)] == []
    assert [each for each in outside if fits(each, hint)] == []
    never: list[object] = [True, False, "1", None, (1,), 1j, np.ones(1)]
    assert [each for each in never if fits(each, hint)] == []
    assert hint is float or not fits(nan, hint)


@given(st.floats() | st.integers())
def test_bounds_are_the_intervals_of_their_definitions(number: float) -> None:
    small = type(number) is float or abs(number) < 2**1000
    assert fits(number, Positive) == (small and 0 < number < inf)
    assert fits(number, NonNegative) == (small and 0 <= number < inf)
    assert fits(number, Probability) == (0 <= number <= 1)
    assert fits(number, Factor) == (0 < number <= 1)
    assert fits(number, Count) == (type(number) is int and number >= 1)
    assert fits(number, Natural) == (type(number) is int and number >= 0)


@runtime_checkable
class Shape(Protocol):
    """Something with an area."""

    def area(self) -> float:
        """The area."""
        ...


@dataclass(frozen=True)
class Square(Shape):
    side: Positive = 1.0

    def area(self) -> float:
        return self.side**2


class Foreign:
    """A shape that extends nothing of ours."""

    def area(self) -> float:
        return 0.0


class Unasked(Protocol):
    """A protocol that cannot be asked at run time."""

    def volume(self) -> float:
        """The volume."""
        ...


@dataclass
class Garden:
    n_features: ClassVar[int] = 3
    word: Literal["good", "bad", 1] = "good"
    flag: bool = False
    sizes: tuple[Count, ...] | Count = (1, 2)
    pair: tuple[str, Factor] = ("a", 1.0)
    shape: Shape = field(default_factory=Square)
    square: Square | None = None
    anything: Any = None
    unasked: Unasked | None = None
    _: KW_ONLY
    seed: Natural | None = None
    learned: float = field(default=-1.0, init=False)

    def __post_init__(self) -> None:
        check_settings(self)


WORDS = "'good', 'bad' or 1"
SIZES = "values in parentheses (each a whole number of at least 1) or a whole number of at least 1"


@pytest.mark.parametrize(
    ("name", "good", "bad", "words"),
    [
        ("word", ["bad", 1], ["Good", "", True, 1.0, None, ["good"], np.zeros(2)], WORDS),
        ("flag", [True], [1, 0, "True", None], "True or False"),
        ("sizes", [(), (3,), 3], [(0,), [1], (1.5,), 0, "12"], SIZES),
        (
            "pair",
            [("", 0.5)],
            [("a",), ("a", 2.0), ("a", 1.0, 1.0), "ab"],
            "(a text, a number above 0 and at ",
        ),
        ("shape", [Square(2.0), Foreign()], [Square, Foreign, 1.0, "square", None], "Square"),
        ("square", [Square(), None], [Foreign(), Square], "Square or None"),
        ("seed", [0, None], [-1, 0.5, True], "a whole number of at least 0 or None"),
        ("anything", ["x", 3, Foreign], [], ""),
        ("unasked", [Foreign()], [], ""),
    ],
)
def test_every_kind_of_annotation_is_checked(name: str, good: list[Any], bad: list[Any], words: str) -> None:
    for value in good:
        assert getattr(Garden(**{name: value}), name) is value
    for value in bad:
        with pytest.raises(SettingError) as error:
            Garden(**{name: value})
        assert str(error.value).startswith(f"Garden: {name} must be {words}")
        assert str(error.value).endswith(f", found {value!r}")


def test_what_was_found_is_shown_in_short() -> None:
    with pytest.raises(SettingError) as error:
        Garden(flag="x" * 1_000)  # type: ignore[arg-type]
    assert len(str(error.value)) < 150


def test_a_setting_of_a_class_of_ones_own_is_named_by_the_class_it_extends() -> None:
    @dataclass
    class Mine(Garden):
        rate: Positive = 1.0

    with pytest.raises(SettingError, match=r"^Mine: rate must be a finite number above 0, found 0$"):
        Mine(rate=0)


def test_an_annotation_that_is_not_known_when_it_runs_is_named() -> None:
    @dataclass
    class Mine(Garden):
        rate: Unknown = 1.0  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(SettingError, match=r"Mine has an annotation with the name 'Unknown'.*TYPE_CHECKING"):
        Mine()
