"""Settings are checked where they are born, by constructor, `structs.replace` and JSON alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from msgspec import Meta, field, structs

from rankloop.errors import SettingError
from rankloop.service.core.settings_fields import fields_of
from rankloop.service.core.settings_record import Settings, describe, read_settings

Weight = Annotated[float, Meta(ge=0, le=1)]


class LampSettings(Settings, frozen=True, kw_only=True):
    """A record inside another one."""

    power: Annotated[float, Meta(gt=0, le=1e6)] = 5.0
    limit: Annotated[float, Meta(gt=0, le=1e6)] = 50.0
    colours: Literal["warm", "cold"] | Mapping[str, Weight] = "warm"

    def check(self) -> None:
        """Refuse a limit below the power."""
        if self.limit < self.power:
            raise SettingError(f"limit: Expected at least the power of {self.power:g}, found {self.limit:g}")


class HouseSettings(Settings, frozen=True, kw_only=True):
    """Every form of a field."""

    warmth: Annotated[
        float,
        Meta(ge=0),
        describe("Warmth", "How warm it is.", unit="degrees", group="Air", values={"0": "off"}),
    ] = 20.0
    rooms: Annotated[Annotated[int, Meta(ge=1)] | None, describe("Rooms", "How many there are.")] = None
    is_new: Annotated[bool, describe("New", "Whether it is.")] = False
    heating: Annotated[
        Literal["gas", "wood"], describe("Heating", "What warms it.", values={"wood": "logs", "gas": "pipe"})
    ] = "gas"
    doors: Annotated[Mapping[str, Weight], Meta(min_length=1)] = field(default_factory=lambda: {"front": 1.0})
    sizes: Annotated[tuple[float, ...], Meta(max_length=3)] | None = None
    lamp: LampSettings | None = None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"warmth": -1}, "warmth: Expected a number of 0 or more, found -1: choose a value within the bounds"),
    ({"warmth": "hot"}, 'warmth: Expected a number of 0 or more, found "hot"'),
    ({"warmth": None}, "warmth: Expected a number of 0 or more, found null"),
    ({"warmth": True}, "warmth: Expected a number of 0 or more, found true"),
    ({"warmth": 10**400}, "warmth: Expected a number of 0 or more, found a number of 401 digits"),
    ({"warmth": 10**5000}, "warmth: Expected a number of 0 or more, found a value of type int"),
    ({"warmth": np.ones(2)}, "warmth: Expected a number of 0 or more, found a value of type ndarray"),
    (
        {"warmth": float("nan")},
        "warmth: Expected a finite number of 0 or more, found nan: choose a value within the bounds",
    ),
    ({"warmth": float("inf")}, "warmth: Expected a finite number, found inf"),
    ({"rooms": 1.5}, "rooms: Expected a whole number of 1 or more, or null, found 1.5"),
    (
        {"rooms": 0},
        "rooms: Expected a whole number of 1 or more, or null, found 0: choose a value within the bounds",
    ),
    ({"is_new": 1}, "is_new: Expected true or false, found 1"),
    ({"heating": "gass"}, "heating: Expected one of gas, wood, found \"gass\": did you mean 'gas'?"),
    (
        {"doors": {}},
        "doors: Expected an object of 1 or more entries, found an empty one"
        ": choose a value within the bounds",
    ),
    (
        {"doors": {"front": 0.5, "back": 2}},
        "doors.back: Expected a number from 0 to 1, found 2: choose a value within the bounds",
    ),
    ({"doors": {"front": True}}, "doors.front: Expected a number from 0 to 1, found true"),
    ({"doors": {5: 1}}, "doors: Expected `str`, got `int`"),
    (
        {"sizes": [1, 2, 3, 4]},
        "sizes: Expected a list of up to 3 entries or null, found 4 entries"
        ": choose a value within the bounds",
    ),
    ({"sizes": [1, "x"]}, 'sizes[1]: Expected a number, found "x"'),
    ({"sizes": [1, float("-inf")]}, "sizes[1]: Expected a finite number, found -inf"),
    ({"lamp": 3}, "lamp: Expected an object or null, found 3"),
    (
        {"lamp": {"power": 0}},
        "lamp.power: Expected a number above 0 and up to 1,000,000, found 0"
        ": choose a value within the bounds",
    ),
    ({"lamp": {"limit": 2}}, "lamp.limit: Expected at least the power of 5, found 2"),
    (
        {"lamp": {"colours": "worm"}},
        "lamp.colours: Expected one of cold, warm, or an object, found \"worm\": did you mean 'warm'?",
    ),
    (
        {"lamp": {"colours": {"red": float("inf")}}},
        "lamp.colours.red: Expected a finite number from 0 to 1, found inf: choose a value within the bounds",
    ),
    (
        {"lamp": {"powr": 1}},
        "Expected a setting of lamp, found 'powr': did you mean 'power'? Settings: power, limit, colours",
    ),
]
WAYS: list[Callable[[dict[str, Any]], HouseSettings]] = [
    lambda data: HouseSettings(**data),
    lambda data: structs.replace(HouseSettings(), **data),
    lambda data: read_settings(HouseSettings, data),
]


@pytest.mark.parametrize(("data", "sentence"), WRONG, ids=[sentence[:60] for _, sentence in WRONG])
@pytest.mark.parametrize("make", WAYS, ids=["constructor", "replace", "JSON"])
def test_wrong_values_are_refused_in_the_same_words_whatever_makes_the_record(
    make: Callable[[dict[str, Any]], HouseSettings], data: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SettingError) as caught:
        make(data)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            {"warmt": 1},
            "Expected a setting of house, found 'warmt': did you mean 'warmth'? "
            "Settings: warmth, rooms, is_new, heating, doors, sizes, lamp",
        ),
        (
            {"zzz": 1},
            "Expected a setting of house, found 'zzz'. "
            "Settings: warmth, rooms, is_new, heating, doors, sizes, lamp",
        ),
        ([], "Expected an object, found an empty one"),
        ("warm", 'Expected an object, found "warm"'),
    ],
)
def test_what_is_not_a_setting_is_refused(data: Any, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings(HouseSettings, data)
    assert str(caught.value) == sentence


def test_a_record_keeps_values_in_the_form_of_its_fields() -> None:
    doors = {"back": 1}
    house = HouseSettings(
        warmth=np.float64(7),
        doors=MappingProxyType(doors),
        sizes=[1, 2],  # type: ignore[arg-type]
        lamp={"power": 2},  # type: ignore[arg-type]
    )
    doors["front"] = 1
    assert type(house.warmth) is float
    assert house == HouseSettings(
        warmth=7.0, doors={"back": 1.0}, sizes=(1.0, 2.0), lamp=LampSettings(power=2.0)
    )
    with pytest.raises(AttributeError):
        house.warmth = 8.0  # type: ignore[misc]


def test_settings_survive_json() -> None:
    house = HouseSettings(rooms=3, doors={"a": 0.5}, sizes=(1.0,), lamp=LampSettings(colours={"red": 1}))
    assert read_settings(HouseSettings, json.loads(json.dumps(house.to_json()))) == house
    assert read_settings(HouseSettings, {}) == HouseSettings()


def test_fields_say_what_forms_help_and_the_reference_need() -> None:
    fields = {each.name: each for each in fields_of(HouseSettings)}
    lamp = ["lamp", "lamp.power", "lamp.limit", "lamp.colours"]
    assert [*fields] == ["warmth", "rooms", "is_new", "heating", "doors", "sizes", *lamp]
    warmth = fields["warmth"]
    assert (warmth.title, warmth.unit, warmth.group) == ("Warmth", "degrees", "Air")
    assert (warmth.effect, warmth.expected, warmth.default) == (
        "How warm it is. 0: off.",
        "a number of 0 or more",
        20.0,
    )
    assert warmth.is_number
    assert fields["rooms"].takes_null
    assert fields["rooms"].effect == "How many there are."
    assert fields["heating"].choices == ("wood", "gas")
    assert fields["lamp"].is_record
    assert fields["lamp"].takes_null
    assert fields["lamp.colours"].choices == ("cold", "warm")
    assert fields["doors"].default == {"front": 1.0}
