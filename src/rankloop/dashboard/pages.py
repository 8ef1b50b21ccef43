"""Page context: templates, who is signed in, and how a page is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jinja2 import Environment
from litestar import Response
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from rankloop.charts import SCHEMES
from rankloop.dashboard.access import AnyRequest, session_of
from rankloop.dashboard.render import environment, page
from rankloop.dashboard.sessions import Sessions

SECTIONS = (
    ("/overview", "Overview"),
    ("/query", "Query"),
    ("/recommend", "Recommend"),
    ("/exposure", "Exposure"),
    ("/doctor", "Event doctor"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pages:
    """What the pages share. `public` ones can be looked at by everyone; changing anything needs the key."""

    public: bool = False
    home: str = "Start"  # what the first page is called
    more: Sequence[tuple[str, str]] = ()  # pages of others, after the first
    packages: Sequence[str] = ()  # with templates of their own
    sessions: Sessions = field(default_factory=Sessions)
    templates: Environment = field(init=False)

    def __post_init__(self) -> None:
        """Read the templates."""
        object.__setattr__(self, "templates", environment(*self.packages))

    def show(self, request: AnyRequest, name: str, *, section: str = "", **values: Any) -> Response[str]:
        """A page of ours."""
        return page(
            self.templates,
            name,
            section=section,
            sections=(("/", self.home), *self.more, *SECTIONS),
            session=session_of(request, self.sessions),
            here=str(request.base_url).rstrip("/"),
            schemes=SCHEMES,
            **values,
        )


InjectedPages: TypeAlias = NamedDependency[SkipValidation[Pages]]
