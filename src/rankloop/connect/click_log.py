"""Click logs of others: rows of CSV, Parquet or UBI, understood as lists with clicks, and imported."""

from rankloop.connect.click_log_lists import LoggedList, lists_of, scan
from rankloop.connect.click_log_mapping import ROLES, Mapped, guessed, parse_mapping
from rankloop.connect.click_log_rows import Row, rows_of
from rankloop.connect.ubi import ubi_documents, ubi_lists

__all__ = [
    "ROLES",
    "LoggedList",
    "Mapped",
    "Row",
    "guessed",
    "lists_of",
    "parse_mapping",
    "rows_of",
    "scan",
    "ubi_documents",
    "ubi_lists",
]
