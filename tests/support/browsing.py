"""A real browser that notes what goes wrong: errors in the console, and requests that leave this machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Request, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NO_CHROMIUM = "no chromium: install it to see the pages in a browser"
AXE = Path(__file__).parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
NO_AXE = "no axe-core: scripts/ensure-axe could not fetch it"
PATIENCE = 60_000  # milliseconds: a busy machine is no failure

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "color_scheme": "dark",
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}
# what goes on for ever is left alone
AT_REST = """Promise.all(document.getAnimations()
    .filter(each => Number.isFinite(each.effect?.getComputedTiming().endTime))
    .map(each => each.finished.catch(() => null))).then(() => null)"""


@dataclass
class Browsing:
    """A page in a browser, and what it has to complain about."""

    page: Page
    url: str
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda said: self._note(said.type in ("error", "warning"), said.text))
        self.page.on("pageerror", lambda error: self._note(True, str(error)))
        self.page.on("request", self._requested)

    def _note(self, wrong: bool, text: str) -> None:
        if wrong:
            self.trouble.append(text)

    def _requested(self, request: Request) -> None:
        address = urlsplit(request.url)
        self._note(address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1", request.url)

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def arrives(self, selector: str) -> None:
        """Wait until a page with such a part is there, to its end."""
        self.page.wait_for_selector(selector)
        self.page.wait_for_load_state()

    def drawn(self, charts: int) -> None:
        """Wait until so many charts are drawn."""
        self.page.wait_for_function(
            "n => document.querySelectorAll('.chart[data-state=drawn]').length === n", arg=charts
        )

    def fits(self) -> bool:
        """Whether the page is no wider than the screen."""
        wide: int = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        return wide <= 0

    def complaints(self) -> list[str]:
        """What axe-core finds wrong with the page, from its top, once nothing moves or fades any more.

        Further down, a notice that sticks to the window covers whatever has scrolled beneath it.
        """
        self.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
        self.page.evaluate(AT_REST)
        self.page.evaluate(AXE.read_text("utf-8"))
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = self.page.evaluate(
            "tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", tags
        )
        return [
            f"{each['id']}: {each['help']}: {json.dumps([node['html'][:200] for node in each['nodes'][:3]])}"
            for each in found["violations"]
        ]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a page; while it runs, nothing else may run an event loop in this thread."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            yield launched
        finally:
            launched.close()


@contextmanager
def browser(url: str, launched: Browser | None = None, **how: Any) -> Iterator[Browsing]:
    """A browser that knows nothing, at an address: its own, or a new profile of one that runs already."""
    with nullcontext(launched) if launched else chromium() as found:
        context = found.new_context(**how)
        try:
            yield Browsing(context.new_page(), url)
        finally:
            context.close()
