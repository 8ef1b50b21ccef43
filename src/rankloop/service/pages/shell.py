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
from rankloop.service.pages.page_formatting import environment, page
from rankloop.service.pages.ranker_status import said_done, steering
from rankloop.service.pages.sessions import Sessions
from rankloop.service.pages.sign_in import AnyRequest, session_of

# charts stand on cards, whatever colour these are
FONT = "Inter, ui-sans-serif, system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
TRANSPARENT = {name: scheme | {"background": "transparent", "font": FONT} for name, scheme in SCHEMES.items()}
SECTIONS = (
    ("/overview", "Overview"),
    ("/learned", "What it learned"),
    ("/query", "Lists"),
    ("/recommend", "Recommend"),
    ("/exposure", "Exposure"),
    ("/doctor", "Doctor"),
    ("/decisions", "Decisions"),
    ("/settings", "Settings"),
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
        """A page of ours; its head is about `ranker`, if that is among the values or in the address."""
        service = request.app.state.context.service
        session = session_of(request, self.sessions)
        asked = str(values.get("ranker") or request.query_params.get("ranker") or "")
        told: dict[str, Any] = {
            "section": section,
            "sections": (("/", self.home), *self.more, *SECTIONS),
            "kept": len(SECTIONS),  # whose links keep the ranker
            "session": session,
            "here": str(request.base_url).rstrip("/"),
            "path": f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path,
            "schemes": TRANSPARENT,
            "steering": steering(service, asked) if session or self.public else None,
            "done": said_done(request.query_params),
            "live": False,
        }
        return page(self.templates, name, **told | values)


InjectedPages: TypeAlias = NamedDependency[SkipValidation[Pages]]
