"""PostgreSQL store: the log in a database, for whoever outgrows one file."""

try:
    import psycopg  # noqa: F401
except ImportError as error:
    from rankloop.errors import SettingError

    raise SettingError("a store in PostgreSQL needs psycopg 3: pip install 'rankloop[postgres]'") from error

from rankloop.service.store.postgres.postgres_backend import PostgresStore

__all__ = ["PostgresStore"]
