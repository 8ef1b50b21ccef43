"""Past decisions of a ranker: what they say about how its log is to be folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Decision, Store

END = 2**62  # beyond every entry


@dataclass(frozen=True, slots=True)
class PastDecisions:
    """The decisions of a ranker, in order, as far as they were read; ticks decide nothing, and are left out.

    >>> log = [
    ...     Decision(seq=seq, at=0.0, ranker="shop", kind=kind, body=body)
    ...     for seq, kind, body in [(3, "forget", {"events": ["e1"]}), (7, "rollback", {"to": 2})]
    ... ]
    >>> past = PastDecisions(log, 7)
    >>> past.forgotten(2), past.forgotten(3), past.rollback_targets(after=1, until=9)
    ({}, {'e1': 3}, [2])
    """

    decisions: Sequence[Decision] = ()
    read_until: int = 0

    def read_on(self, store: Store, ranker: str) -> Self:
        """Return those that are there now. A deletion also takes events out of earlier decisions."""
        later = store.read_decisions(ranker, after=self.read_until)
        if not later:
            return self
        if self.decisions and any(each.kind == "delete" for each in later):
            return type(self)().read_on(store, ranker)
        kept = [each for each in later if each.kind != "tick"]
        return replace(self, decisions=[*self.decisions, *kept], read_until=later[-1].seq)

    def select(self, kind: str, *, after: int = 0, until: int = END) -> list[Decision]:
        """Return the decisions of a kind after an entry, up to another."""
        return [each for each in self.decisions if each.kind == kind and after < each.seq <= until]

    def find(self, kind: str, seq: int) -> Decision:
        """Return the decision of an entry."""
        found = next((each for each in self.decisions if each.seq == seq and each.kind == kind), None)
        if found is None:
            raise HistoryError(f"entry {seq} is no decision of the kind {kind!r}")
        return found

    def forgotten(self, until: int) -> dict[str, int]:
        """Return the events that were forgotten up to an entry, each with the first decision to do so."""
        found = dict[str, int]()
        for decision in self.select("forget", until=until):
            for event in decision.body["events"]:
                found.setdefault(event, decision.seq)
        return found

    def first_entry(self) -> int:
        """Return the entry at which the log begins, if its beginning was discarded; otherwise 0."""
        retained = self.select("retain")
        return int(retained[-1].body["base"]) if retained else 0

    def last_deletion(self) -> int:
        """Return the newest decision to delete people's data; 0 without one."""
        return max((each.seq for each in self.select("delete")), default=0)

    def last_relearn(self, until: int) -> Decision | None:
        """Return the newest decision up to an entry for which the log is learned again from its beginning."""
        first = self.first_entry()
        changes = self.select("settings", until=until)[0 if first else 1 :]  # nothing is before the first
        again = [each for each in changes if each.seq > first and each.body.get("relearn")]
        return again[-1] if again else None

    def rollback_targets(self, *, after: int, until: int) -> list[int]:
        """Return the entries from one on to which rollbacks up to another return, in order."""
        rollbacks = self.select("rollback", after=after, until=until)
        return sorted({to for each in rollbacks if (to := int(each.body["to"])) >= after})
