"""Finding about deletions of people's data that are pending, and about who is in the way."""

from __future__ import annotations

from collections.abc import Iterator

from rankloop.service.core.finding import Finding
from rankloop.service.operations.people import find_pending
from rankloop.service.store import Store

PATIENCE = 60.0  # seconds that a deletion may be pending without a word


def about_deletions(store: Store, *, until: float) -> Iterator[Finding]:
    """Deletions that have been pending for longer than a moment."""
    late = [each for each in find_pending(store) if until - each.at > PATIENCE]
    if not late:
        return
    blockers = store.find_blockers()
    named = ", ".join(f"{each.application or 'a session'} (process {each.pid})" for each in blockers)
    yield Finding(
        code="deletion-pending",
        level="warning",
        sentence=f"{len(late)} deletion{'s'[len(late) == 1 :]} of people's data "
        f"{'is' if len(late) == 1 else 'are'} pending"
        + (f", because {named} still reads old files" if named else ": old files are still being replaced"),
        cause="A session that began to read before the deletion, and has not ended, keeps the old files.",
        fix=f"kill {blockers[0].pid}   # on the machine that it runs on" if blockers else "",
    )
