"""PostgreSQL full text: rows of a real database, in learned order."""

from __future__ import annotations

import psycopg
import pytest

from rankloop.connect import PostgresSearch
from rankloop.errors import SettingError
from rankloop.service import RankingService, UserEvent
from tests.support.postgres import Cluster

TABLE = """
CREATE TABLE "mugs" (sku text PRIMARY KEY, title text, price numeric, fresh boolean,
    document tsvector GENERATED ALWAYS AS (to_tsvector('english', title)) STORED);
INSERT INTO mugs VALUES
    ('a', 'mug mug blue', 24, true), ('b', 'red mug', 9, null), ('c', 'green cup', 3, false);
"""


def test_rows_come_in_learned_order(postgres: Cluster) -> None:
    service = RankingService()
    service.rankers.create("default")
    search = PostgresSearch(
        service=service, table="mugs", id="sku", features=["price", "fresh"], shown=["title"]
    )
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(TABLE)
        assert [row["sku"] for row in search.matching(connection, "mugs")] == ["a", "b"]
        assert search.search(connection, 'tea -"mug').rows == ()
        for _ in range(20):
            found = search.search(connection, "mug")
            service.events.record([UserEvent(found.query_id, "b")])
        service.rankers.flush("default")
        service.rankers.set_mode("default", "exploit")
        found = search.search(connection, "mug", k=2)
        assert [row["title"] for row in found.rows] == ["red mug", "mug mug blue"]
        assert service.rankers.describe("default").features == ("ts_rank_cd", "ts_rank", "price", "fresh")
        with pytest.raises(psycopg.errors.UndefinedTable):
            PostgresSearch(service=service, table='mugs"; DROP TABLE mugs; --').matching(connection, "mug")
    with pytest.raises(SettingError, match="give the column another name"):
        PostgresSearch(service=service, table="mugs", features=["ts_rank"])
