"""Parts of impressions: what an extension keeps of a list, in a form that the store does not know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from rankloop.service.store.log_records import Decision, Impression

Amounts: TypeAlias = tuple[int, ...]
Key: TypeAlias = tuple[str, str, int, str]  # ranker, extension, account, name
Totals: TypeAlias = dict[Key, Amounts]

CARRIERS = ("retain", "delete")  # kinds of decisions that carry the totals of lists that are gone


def no_totals(part: Any) -> Iterable[tuple[int, str, Amounts]]:
    """Return no totals of a part."""
    del part
    return ()


class PartType(NamedTuple):
    """Part of an extension: its form, and the totals to keep of it."""

    extension: str  # its name
    structs: Any  # its struct, or a union of its forms, told apart by their tags
    totals: Callable[[Any], Iterable[tuple[int, str, Amounts]]] = no_totals  # account, name, amounts


class PartTotal(NamedTuple):
    """Sum over all parts of a ranker's lists under one name of an account."""

    extension: str
    account: int
    name: str
    amounts: Amounts


class PartCodec:
    """Parts as bytes and back; those of an extension that is not here stay as they are.

    >>> class Seen(msgspec.Struct, frozen=True, array_like=True, tag=1):
    ...     views: int
    >>> data = PartCodec([PartType("fair", Seen)]).encode({"fair": Seen(3)})
    >>> PartCodec([PartType("fair", Seen)]).decode(data)
    {'fair': Seen(views=3)}
    >>> PartCodec().encode(PartCodec().decode(data)) == data
    True
    """

    def __init__(self, types: Iterable[PartType] = ()) -> None:
        self._types: dict[str, PartType] = {}
        self._decoders: dict[str, msgspec.msgpack.Decoder[Any]] = {}
        self.register(types)

    def register(self, types: Iterable[PartType]) -> None:
        """Learn the forms of parts."""
        for each in types:
            self._types[each.extension] = each
            self._decoders[each.extension] = msgspec.msgpack.Decoder(each.structs)

    def encode(self, parts: Mapping[str, Any]) -> bytes | None:
        """Return the parts of an impression as bytes; None if there are none."""
        return msgspec.msgpack.encode(parts) if parts else None

    def decode(self, data: bytes | None) -> dict[str, Any]:
        """Return the parts of an impression by the names of their extensions."""
        found = msgspec.msgpack.decode(data, type=dict[str, msgspec.Raw]) if data else {}
        return {
            name: self._decoders[name].decode(raw) if name in self._decoders else raw.copy()
            for name, raw in found.items()
        }

    def sum_totals(self, records: Iterable[object]) -> Totals:
        """Sum the totals of impressions, and those that decisions carry."""
        found: Totals = {}
        for record in records:
            if isinstance(record, Impression):
                merge_totals(found, self.sum_parts(record.ranker, record.parts))
            elif isinstance(record, Decision) and record.kind in CARRIERS:
                merge_totals(found, _carried(record))
        return found

    def sum_parts(self, ranker: str, parts: Mapping[str, Any]) -> Totals:
        """Sum the totals of the parts of one impression."""
        found: Totals = {}
        for extension, part in parts.items():
            if extension in self._types:
                for account, name, amounts in self._types[extension].totals(part):
                    merge_totals(found, {(ranker, extension, account, name): amounts})
        return found


def merge_totals(totals: Totals, more: Mapping[Key, Amounts], *, sign: int = 1) -> None:
    """Add totals to others, or subtract them."""
    for key, amounts in more.items():
        before = totals.get(key, (0,) * len(amounts))
        totals[key] = tuple(one + sign * other for one, other in zip(before, amounts, strict=True))


def list_totals(totals: Mapping[Key, Amounts], ranker: str) -> list[PartTotal]:
    """Return the totals of one ranker, by extension, account and name."""
    return [PartTotal(*key[1:], totals[key]) for key in sorted(totals) if key[0] == ranker]


def find_lost_totals(
    before: Iterable[PartTotal], after: Iterable[PartTotal]
) -> dict[str, list[list[int | str]]]:
    """Return what totals lost when lists were removed, as a decision carries it.

    >>> find_lost_totals([PartTotal("fair", 1, "a", (3, 5))], [PartTotal("fair", 1, "a", (1, 5))])
    {'fair': [[1, 'a', 2, 0]]}
    """
    left = {each[:3]: each.amounts for each in after}
    found: dict[str, list[list[int | str]]] = {}
    for each in before:
        kept = left.get(each[:3], (0,) * len(each.amounts))
        lost = [one - other for one, other in zip(each.amounts, kept, strict=True)]
        if any(lost):
            found.setdefault(each.extension, []).append([each.account, each.name, *lost])
    return found


def _carried(decision: Decision) -> Totals:
    found: Totals = {}
    for extension, rows in decision.body.get("totals", {}).items():
        for account, name, *amounts in rows:
            key = (decision.ranker, extension, int(account), name)
            merge_totals(found, {key: tuple(map(int, amounts))})
    return found
