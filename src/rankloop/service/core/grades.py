"""Settings of grades: how what was done with a result adds up to its grade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta

from rankloop.service.core.settings_record import Settings, check_names, describe
from rankloop.service.store import GradeScale

Unrated: TypeAlias = Literal["zero", "unknown"]

LARGEST = 1e100  # beyond, sums are no numbers any more
Weight: TypeAlias = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]


class GradeSettings(Settings, frozen=True, kw_only=True):
    """Grades from the values of actions, for policies that learn from grades.

    >>> GradeSettings(weights={"star": 1}, highest=5).scale.grade({"star": 4.0})
    4.0
    """

    about: ClassVar[Meta] = describe(
        "Grades from actions",
        "Turns ratings and purchases into grades; set it for policies that learn from grades.",
        group="What counts as a click",
    )
    weights: Annotated[
        Mapping[str, Weight],
        Meta(min_length=1),
        describe(
            "Grade weights",
            "Grade points for a value of 1 of each action; an event without a value counts as 1.",
            values={"below 0": "lowers the grade"},
        ),
    ]
    highest: Annotated[
        float,
        Meta(ge=1e-9, le=LARGEST),
        describe(
            "Highest grade", "Top of the grade scale; larger sums count as this grade, negative ones as 0."
        ),
    ] = 1.0
    unrated: Annotated[
        Unrated,
        describe(
            "Unrated results",
            "Grade of results that a visitor examined but did not rate; "
            "choose `unknown` for stars and thumbs.",
            values={
                "zero": "grade 0, for purchases or reading time",
                "unknown": "no grade, for opinions",
            },
        ),
    ] = "zero"

    def check(self) -> None:
        """Refuse names of actions that no store can keep."""
        check_names("weights", self.weights)

    @property
    def scale(self) -> GradeScale:
        """The scale by which events add up to a grade."""
        return GradeScale(weights=self.weights, highest=self.highest)
