"""SQL of the log, written once for SQLite and PostgreSQL."""
