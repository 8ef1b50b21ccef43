"""Raw bytes of a store: what of some texts is in its files, whatever its tables say."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import psycopg

from tests.support.postgres import Cluster


def hits_in_folder(folder: Path, texts: Collection[str]) -> list[tuple[str, str]]:
    """The files of a folder and the texts that are in them."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    raw = {each.name: each.read_bytes() for each in files}
    return [(name, text) for name, data in raw.items() for text in texts if text.encode() in data]


def hits_in_database(cluster: Cluster, url: str, texts: Collection[str]) -> list[tuple[str, str]]:
    """The relations of a schema, with their indexes and what is stored apart, and the statistics of all."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        rows = connection.execute(
            """WITH mine AS (SELECT oid, reltoastrelid FROM pg_class
                    WHERE relnamespace = current_schema()::regnamespace),
                every AS (SELECT oid FROM mine UNION SELECT reltoastrelid FROM mine
                    UNION SELECT indexrelid FROM pg_index JOIN mine ON indrelid IN (mine.oid, reltoastrelid)
                    UNION SELECT 'pg_statistic'::regclass UNION SELECT 'pg_toast.pg_toast_2619'::regclass)
            SELECT pg_class.oid::regclass::text, pg_relation_filepath(pg_class.oid)
            FROM every JOIN pg_class USING (oid) WHERE pg_relation_filepath(pg_class.oid) IS NOT NULL"""
        ).fetchall()
    found = []
    for name, path in rows:
        whole = cluster.data / path
        data = b"".join(each.read_bytes() for each in sorted(whole.parent.glob(f"{whole.name}*")))
        found += [(name, text) for text in texts if text.encode() in data]
    assert len(rows) > 30, "the relations of a store were not found"
    return found
