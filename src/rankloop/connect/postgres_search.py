"""PostgreSQL full text: candidates by `websearch_to_tsquery`, their ranks as features, in learned order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankloop.candidate import Candidate
from rankloop.connect.ranking import SearchService, list_service
from rankloop.errors import SettingError

if TYPE_CHECKING:
    from psycopg import Connection

RANKS = ("ts_rank_cd", "ts_rank")


@dataclass(frozen=True, slots=True)
class Found:
    """Rows in the order to show them, and the id under which clicks on them are reported."""

    query_id: str
    rows: Sequence[dict[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class PostgresSearch:
    """Full-text search of one table, ranked by a service.

    `document` is the column of type `tsvector`, `features` are numeric columns, and `shown` further ones to
    give back. Candidates are the best `candidates` rows by `ts_rank_cd`, which is your own order; it and
    `ts_rank` are features, too.
    """

    service: SearchService
    table: str
    id: str = "id"
    document: str = "document"
    features: Sequence[str] = ()
    shown: Sequence[str] = ()
    language: str = "english"
    candidates: int = 100
    ranker: str = "default"

    def __post_init__(self) -> None:
        """Refuse names that mean two things."""
        if taken := set(RANKS) & {self.id, *self.features, *self.shown}:
            raise SettingError(f"{sorted(taken)[0]!r} is the rank of a row: give the column another name")

    def search(
        self,
        connection: Connection[Any],
        words: str,
        *,
        k: int = 10,
        client_id: str = "",
        session_id: str = "",
    ) -> Found:
        """The rows that match what someone typed, best first."""
        rows = self.matching(connection, words)
        if not rows:
            return Found("", ())
        names = (*RANKS, *self.features)
        features = [{name: _number(row[name]) for name in names} for row in rows]
        shown = list_service(self.service).rank(
            [Candidate(str(row[self.id]), found) for row, found in zip(rows, features, strict=True)],
            ranker=self.ranker,
            k=k,
            user_query=words[:2000],
            client_id=client_id,
            session_id=session_id,
        )
        by_id = {str(row[self.id]): row for row in rows}
        return Found(shown.query_id, [by_id[name] for name in shown.object_ids])

    def matching(self, connection: Connection[Any], words: str) -> list[dict[str, Any]]:
        """The candidates, in the database's own order."""
        from psycopg import sql  # noqa: PLC0415
        from psycopg.rows import dict_row  # noqa: PLC0415

        columns = dict.fromkeys((self.id, *self.features, *self.shown))
        query = sql.SQL(
            "SELECT {columns}, ts_rank_cd({document}, wanted) AS ts_rank_cd, "
            "ts_rank({document}, wanted) AS ts_rank "
            "FROM {table}, websearch_to_tsquery(%(language)s::regconfig, %(words)s) AS wanted "
            "WHERE {document} @@ wanted ORDER BY ts_rank_cd DESC, {id} LIMIT %(candidates)s"
        ).format(
            columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
            document=sql.Identifier(self.document),
            table=sql.Identifier(*self.table.split(".")),
            id=sql.Identifier(self.id),
        )
        given = {"language": self.language, "words": words, "candidates": self.candidates}
        with connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query, given).fetchall()


def _number(value: Any) -> float | None:
    """A value of a column as a feature; numerics and booleans are numbers, too."""
    return None if value is None else float(value)
