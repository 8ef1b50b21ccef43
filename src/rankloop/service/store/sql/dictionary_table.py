"""Table of the dictionaries that payloads are compressed with: rows that never change."""

from __future__ import annotations

from contextlib import suppress

from rankloop.errors import DataError
from rankloop.service.store.impression_codec import WHOLE_COLUMNS, impression_from
from rankloop.service.store.impression_parts import PartCodec
from rankloop.service.store.log_records import Impression
from rankloop.service.store.payload_dictionary import SAMPLE, PayloadCompressor
from rankloop.service.store.sql.bucket_sums import Run
from rankloop.service.store.sql.traffic_statistics import ReadState
from rankloop.service.store.store import EventLog, StoreError, write

NO_PARTS = PartCodec()  # a dictionary is made of what lists held, and not of their parts


class PayloadDictionaries:
    """Dictionaries of a store, and its compressor, which uses the newest of them."""

    def __init__(self, read: ReadState) -> None:
        self._read = read
        self.compressor = PayloadCompressor(self._find)

    def use_newest(self, run: Run) -> bool:
        """Have the newest dictionary used; whether it is another one than before."""
        query = (
            "SELECT number, ratio, data FROM dictionaries WHERE number > :used ORDER BY number DESC LIMIT 1"
        )
        newest = run(query, {"used": self.compressor.number})
        for number, ratio, data in newest:
            self.compressor.add(number, bytes(data))
            self.compressor.use(number, ratio=ratio)
        return bool(newest)

    def improve(self, store: EventLog) -> None:
        """Make another dictionary of the newest lists if one is due; another process may have done it."""
        if self.compressor.is_dictionary_due() and not self._read(self.use_newest):
            made = self.compressor.make_dictionary(self._read(self._read_sample))
            if made is not None:
                data, ratio = made
                number = write(store, lambda transaction: transaction.add_dictionary(data, ratio=ratio))
                self.compressor.add(number, data)
                self.compressor.use(number, ratio=ratio)

    def _find(self, number: int) -> bytes:
        query = "SELECT data FROM dictionaries WHERE number = :number"
        for (data,) in self._read(lambda run: run(query, {"number": number})):
            return bytes(data)
        raise StoreError(f"payloads name dictionary {number}, which the store does not have")

    def _read_sample(self, run: Run) -> list[Impression]:
        query = f"""SELECT {", ".join(WHOLE_COLUMNS)} FROM impressions JOIN payloads USING (seq)
            ORDER BY seq DESC LIMIT {SAMPLE}"""
        lists = []
        for row in run(query, {}):
            with suppress(DataError):  # one that is damaged
                lists.append(impression_from(row, NO_PARTS, self.compressor))
        return lists


def add_dictionary(run: Run, data: bytes, *, ratio: float) -> int:
    """Add a dictionary, and return its number."""
    ((number,),) = run(
        """INSERT INTO dictionaries (number, data, ratio)
        VALUES ((SELECT coalesce(max(number), 0) + 1 FROM dictionaries), :data, :ratio) RETURNING number""",
        {"data": data, "ratio": ratio},
    )
    return int(number)
