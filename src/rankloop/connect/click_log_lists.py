"""Lists of a click log: rows that belong together, in the order shown, with what was clicked."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby

from rankloop.connect.click_log_mapping import Mapped, number_of
from rankloop.connect.click_log_rows import Row
from rankloop.errors import DataError

YES, NO = ("true", "yes", "y", "t"), ("false", "no", "n", "f")
NEVER = "nobody clicked it: it is imported, and most policies learn nothing from it"
ALL = "everything in it was clicked: it is imported, and there is nothing to compare"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LoggedList:
    """A list as it was shown elsewhere: objects from the first position on, their features, and clicks."""

    row: int  # where it begins in the file
    key: str  # the same list has the same, however often it is read
    objects: Sequence[str]
    features: Sequence[Mapping[str, float | None]]
    clicked: Sequence[str]
    query: str = ""
    time: float | None = None
    session: str = ""
    client: str = ""
    trouble: str = ""  # why it cannot be imported


@dataclass(slots=True)
class Scan:
    """What is in a click log: lists and clicks that can be imported, and the reasons of the others."""

    rows: int = 0
    lists: int = 0
    clicks: int = 0
    remarks: Counter[str] = field(default_factory=Counter)  # of lists that are imported
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)  # by reason: the row where it was met first

    def add(self, found: LoggedList) -> None:
        """Count a list."""
        self.rows += len(found.objects)
        if found.trouble:
            self.left_out[found.trouble] += 1
            self.first.setdefault(found.trouble, found.row)
            return
        self.lists += 1
        self.clicks += len(found.clicked)
        if not found.clicked or len(found.clicked) == len(found.objects):
            self.remarks[ALL if found.clicked else NEVER] += 1


def scan(lists: Iterable[LoggedList], look: Callable[[Scan], object] = lambda _: None) -> Scan:
    """Count what is in a log; a list whose rows are not together is an error, for then no list is whole."""
    found, keys = Scan(), set[str]()
    for each in lists:
        if each.key in keys:
            raise DataError(
                f"row {each.row}: the list that begins here was there before. Rows of a list must be "
                "together: sort the file by its list"
            )
        keys.add(each.key)
        found.add(each)
        look(found)
    return found


def lists_of(rows: Iterable[Row], mapped: Mapped) -> Iterator[LoggedList]:
    """The lists of a log, one after the other; of those that cannot be imported, `trouble` says why."""
    for _, group in groupby(_numbered(rows, mapped), key=lambda pair: pair[0]):
        yield _list([row for _, row in group], mapped)


def _numbered(rows: Iterable[Row], mapped: Mapped) -> Iterator[tuple[int, Row]]:
    """Rows with the number of their list."""
    same = [mapped.columns[role] for role in ("list", "query", "session", "client") if role in mapped.columns]
    if "list" in mapped.columns:
        same = [mapped.columns["list"]]
    position = mapped.columns.get("position") if "list" not in mapped.columns else None
    number, before, last = 0, None, float("-inf")
    for row in rows:
        now = [row.values[column] for column in same]
        stood = _position(row.values[position]) if position else None
        if now != before or (stood is not None and stood <= last):
            number, last = number + 1, float("-inf")
        before, last = now, last if stood is None else stood
        yield number, row


def _position(value: object) -> float | None:
    try:
        return number_of(value)
    except (TypeError, ValueError):
        return None


def _list(rows: Sequence[Row], mapped: Mapped) -> LoggedList:
    first, trouble = rows[0], ""
    try:
        rows = _in_order(rows, mapped)
        clicked = [_text(row, mapped, "object") for row in rows if _clicked(row, mapped)]
        features = [{name: _feature(row, name) for name in mapped.features} for row in rows]
        time = _time(first, mapped)
    except _Trouble as error:
        trouble, clicked, features, time = str(error), [], [], None
    objects = [_text(row, mapped, "object") for row in rows]
    trouble = trouble or wrong_ids(objects)
    said = {role: _text(first, mapped, role) for role in ("query", "session", "client")}
    name = _text(first, mapped, "list")
    words = [name] if name else [first.number, said, objects, clicked]
    return LoggedList(
        row=first.number,
        key=hashlib.blake2b(json.dumps(words).encode(), digest_size=12).hexdigest(),
        objects=objects,
        features=features,
        clicked=clicked,
        time=time,
        trouble=trouble,
        **said,
    )


class _Trouble(Exception):
    """Why a list cannot be imported."""


def _in_order(rows: Sequence[Row], mapped: Mapped) -> Sequence[Row]:
    """Rows from the first position to the last; with holes, it is not known what was passed over."""
    if "position" not in mapped.columns:
        return rows
    positions = [_position(row.values[mapped.columns["position"]]) for row in rows]
    if any(position is None or position % 1 != 0 for position in positions):
        raise _Trouble("a position is no whole number")
    order = sorted(range(len(rows)), key=lambda each: positions[each] or 0)
    if [positions[each] for each in order] != list(range(1, len(rows) + 1)):
        raise _Trouble("positions are not 1, 2, 3, ...: some results of the list are missing, or there twice")
    return [rows[each] for each in order]


def wrong_ids(objects: Sequence[str]) -> str:
    """Why these cannot be the results of one list; empty, if they can."""
    if not all(objects):
        return "a result has no id"
    if any(len(each) > 200 for each in objects):
        return "the id of a result is longer than 200 characters"
    return "a result is there twice" if len(set(objects)) != len(objects) else ""


def _clicked(row: Row, mapped: Mapped) -> bool:
    value = row.values[mapped.columns["clicked"]]
    word = value.strip().lower() if isinstance(value, str) else value
    if word in YES or word in NO:
        return word in YES
    try:
        return (number_of(word) or 0) > 0
    except (TypeError, ValueError):
        raise _Trouble("whether a result was clicked is neither yes nor no, and no number") from None


def _feature(row: Row, name: str) -> float | None:
    try:
        value = number_of(row.values[name])
    except (TypeError, ValueError):
        raise _Trouble(f"feature {name!r} is no number") from None
    if value is not None and abs(value) > 1e100:
        raise _Trouble(f"feature {name!r} is beyond all bounds")
    return value


def _time(row: Row, mapped: Mapped) -> float | None:
    value = row.values[mapped.columns["time"]] if "time" in mapped.columns else None
    try:
        return seconds(value)
    except ValueError:
        raise _Trouble("a time is neither seconds since 1970 nor ISO 8601") from None


def seconds(value: object) -> float | None:
    """Seconds since 1970 from a number (also of milliseconds), a text or a datetime; without a zone, of UTC.

    >>> seconds("2026-01-02T00:00:00Z") == seconds(1767312000) == seconds(1767312000000)
    True
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        text = value
        try:
            value = float(text)
        except ValueError:
            value = datetime.fromisoformat(text)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no time")
    return float(value) / 1000 if abs(value) > 1e11 else float(value)


def _text(row: Row, mapped: Mapped, role: str) -> str:
    value = row.values[mapped.columns[role]] if role in mapped.columns else None
    return "" if value is None else str(value).strip()
