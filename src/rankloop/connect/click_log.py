"""Click logs of others: rows of CSV, Parquet or UBI, understood as lists with clicks, and imported."""

from rankloop.connect.click_log.importing import Imported, import_click_log
from rankloop.connect.click_log.lists import LoggedList, lists_of, scan
from rankloop.connect.click_log.mapping import ROLES, Mapped, guessed, parse_mapping
from rankloop.connect.click_log.rows import Row, rows_of
from rankloop.connect.click_log.ubi import ubi_documents, ubi_lists

__all__ = [
    "ROLES",
    "Imported",
    "LoggedList",
    "Mapped",
    "Row",
    "guessed",
    "import_click_log",
    "lists_of",
    "parse_mapping",
    "rows_of",
    "scan",
    "ubi_documents",
    "ubi_lists",
]
