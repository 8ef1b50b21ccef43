"""Reports of a service, each read by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rankloop.errors import RequestError, suggest_name

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade

REPORTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "decisions": lambda facade, **which: facade.decided(**which),
        "evaluation": lambda facade, ranker, **which: facade.what_if(ranker, **which),
        "explanation": lambda facade, query_id, upper, lower: facade.explain(query_id, upper, lower),
        "exposure": lambda facade, ranker, **period: facade.exposure(ranker, **period),
        "health": lambda facade: facade.health(),
        "learned": lambda facade, ranker, version=None: facade.learned(ranker, version),
        "list": lambda facade, query_id: facade.audit(query_id),
        "settled": lambda facade, query_id: facade.settled(query_id),
        "unused_features": lambda facade, ranker, days=30.0: facade.unused_features(ranker, days=days),
        "versions": lambda facade, ranker: facade.versions(ranker),
    }
)


class Reports:
    """Reports of a service, as `service.reports`; reading one changes nothing.

    A list counts once it is written to the log, a moment after it is shown.
    """

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def read(self, name: str, **parameters: Any) -> Any:
        """Return the value of a report.

        - `explanation` (`query_id, upper, lower`): why one result of a past list stood above another
        - `list` (`query_id`): a past list with its inputs and its events
        - `settled` (`query_id`): which orders of a past list were settled, and which were open
        - `learned` (`ranker, version=None`): the weights that a version has learned
        - `versions` (`ranker`): versions with a snapshot; any version between them can be rebuilt, too
        - `evaluation` (`ranker, policy=None, other="", depth=1, share=0.5, explore=False, level=0.95`): the
          clicks that another policy, or another ranker, would have got
        - `exposure` (`ranker, since=None, until=None, steps=50`): what each group got and what it was due
        - `decisions` (`ranker=None, kind="", who="", last=100`): what operators decided, the newest first
        - `unused_features` (`ranker, days=30`): features in no list of the last days
        - `health` (no parameters): whether the service and each ranker keep up
        """
        if name not in REPORTS:
            raise RequestError(f"no report is called {name!r}: {suggest_name(name, REPORTS)}")
        return REPORTS[name](self._facade, **parameters)
