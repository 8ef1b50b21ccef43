"""Totals of parts in the database, kept by the transaction that adds or removes their impressions."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rankloop.service.store.impression_parts import Amounts, Key, PartCodec, PartTotal, Totals, merge_totals
from rankloop.service.store.sql.dialect import Dialect, Values
from rankloop.service.store.sql.reader_connections import Run

ONE = "ranker = :ranker AND extension = :extension AND account = :account AND name = :name"
NAMES = ("ranker", "extension", "account", "name")


def add_totals(run: Run, dialect: Dialect, more: Mapping[Key, Amounts], *, sign: int = 1) -> None:
    """Add totals to those that are kept; a row that becomes all 0 is deleted. The writer is alone."""
    if not more:
        return
    rows = run(
        f"""SELECT ranker, extension, account, name, amounts FROM part_totals
        WHERE ranker {dialect.among("rankers")} AND name {dialect.among("names")}""",
        {"rankers": sorted({key[0] for key in more}), "names": sorted({key[3] for key in more})},
    )
    kept: Totals = {tuple(key): tuple(json.loads(amounts)) for *key, amounts in rows}
    after = {key: kept[key] for key in more if key in kept}
    merge_totals(after, more, sign=sign)
    for key, amounts in after.items():
        values: Values = dict(zip(NAMES, key, strict=True))
        if not any(amounts):
            run(f"DELETE FROM part_totals WHERE {ONE}", values)
        else:
            run(
                """INSERT INTO part_totals VALUES (:ranker, :extension, :account, :name, :amounts)
                ON CONFLICT (ranker, extension, account, name) DO UPDATE SET amounts = excluded.amounts""",
                {**values, "amounts": json.dumps(amounts)},
            )


def subtract_totals(run: Run, dialect: Dialect, codec: PartCodec, lists: str, values: Values) -> None:
    """Subtract the totals of lists that are about to be removed; `lists` is a condition that selects them."""
    gone: Totals = {}
    for ranker, parts in run(
        f"SELECT ranker, parts FROM impressions WHERE parts IS NOT NULL AND {lists}", values
    ):
        merge_totals(gone, codec.sum_parts(ranker, codec.decode(parts)))
    add_totals(run, dialect, gone, sign=-1)


def read_totals(run: Run, ranker: str) -> list[PartTotal]:
    """Return the totals of a ranker, by extension, account and name."""
    rows = run(
        """SELECT extension, account, name, amounts FROM part_totals
        WHERE ranker = :ranker ORDER BY extension, account, name""",
        {"ranker": ranker},
    )
    return [
        PartTotal(extension, account, name, tuple(json.loads(amounts)))
        for extension, account, name, amounts in rows
    ]
