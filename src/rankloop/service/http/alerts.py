"""Alerts by webhook: each finding of the doctor is sent once to an operator's address, and when it is over.

A thread of its own looks and sends, so that nothing waits for whoever does not answer. It sends to the one
address that was configured, follows no redirects, and says nothing of keys.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from rankloop.errors import SettingError
from rankloop.service.core.finding import Finding
from rankloop.service.http.routes.health_routes import diagnose
from rankloop.service.operator_log import warn_operator
from rankloop.service.service_facade import ServiceFacade

LOGGER = logging.getLogger("rankloop.service")
LOOK_EVERY = 60.0  # seconds
LOOK_BACK = 60  # minutes
PATIENCE = 5.0  # seconds for an answer
WAITS = (1.0, 5.0)  # seconds before each further try
CALM = 3  # looks without a finding after which it is over: one that comes and goes is one
SENT = ("serious", "warning")  # levels


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address to which findings are posted as JSON.

    With a `secret`, the header `X-Rankloop-Signature` has the HMAC-SHA256 of the body, in hexadecimal digits.

    >>> Webhook("https://alerts.example/hook?token=abc").shown
    'https://alerts.example'
    """

    url: str
    secret: str = ""

    def __post_init__(self) -> None:
        """Refuse what nobody could be told at."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingError(
                f"the address for alerts must begin with https:// or http://, found {parts.scheme!r}"
            )

    @property
    def shown(self) -> str:
        """The address without its path, which may hold a token."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}"

    def send(self, body: Mapping[str, Any]) -> None:
        """Post it once; `OSError` if it was not taken."""
        parts, data = urlsplit(self.url), json.dumps(body).encode()
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        headers = {"Content-Type": "application/json", "User-Agent": "rankloop"}
        if self.secret:
            digest = hmac.new(self.secret.encode(), data, hashlib.sha256).hexdigest()
            headers["X-Rankloop-Signature"] = f"sha256={digest}"
        connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE)
        try:
            connection.request(
                "POST", f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", data, headers
            )
            status = connection.getresponse().status
        except http.client.HTTPException as error:
            raise OSError(f"no answer that is HTTP: {type(error).__name__}") from error
        finally:
            connection.close()
        if not 200 <= status < 300:
            raise OSError(f"the answer was {status}")


class Alerts:
    """What was told of, and what is to be told next; `look` does both, in whoever calls it."""

    def __init__(
        self, webhook: Webhook, find: Callable[[], Sequence[Finding]], *, pause: Callable[[float], object]
    ) -> None:
        self._webhook, self._find, self._pause = webhook, find, pause
        self._told: dict[str, Finding] = {}
        self._missed: dict[str, int] = {}  # looks in a row without it
        self._trouble = ""

    def look(self) -> None:
        """Send what is new, and what is over; what could not be sent is new the next time."""
        found = {each.key: each for each in self._find() if each.level in SENT}
        for key, each in found.items():
            self._missed[key] = 0
            if key not in self._told and self._sent(each, "found"):
                self._told[key] = each
        for key in [key for key in self._told if key not in found]:
            self._missed[key] = self._missed.get(key, 0) + 1
            if self._missed[key] >= CALM and self._sent(self._told[key], "over"):
                del self._told[key]

    def _sent(self, finding: Finding, state: str) -> bool:
        body = {
            "state": state,
            "code": finding.code,
            "level": finding.level,
            "ranker": finding.ranker,
            "finding": finding.sentence,
            "cause": finding.cause,
            "fix": finding.fix,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        for wait in (0.0, *WAITS):
            if wait:
                self._pause(wait)
            try:
                self._webhook.send(body)
            except OSError as error:
                trouble = f"{type(error).__name__}: {error}"
            else:
                self._trouble = ""
                return True
        self._say(trouble)
        return False

    def _say(self, trouble: str) -> None:
        if trouble != self._trouble:
            warn_operator(
                LOGGER,
                "an alert could not be sent, and is tried again",
                where=self._webhook.shown,
                why=trouble,
                do="see whether it answers; findings are also what rankloop doctor says",
            )
        self._trouble = trouble


class AlertThread:
    """Looks every minute and tells a webhook; used as a context, it ends with it."""

    def __init__(self, service: ServiceFacade, webhook: Webhook, *, every: float = LOOK_EVERY) -> None:
        self._service, self._every, self._ended = service, every, threading.Event()
        self.alerts = Alerts(webhook, self._find, pause=self._ended.wait)
        self._thread = threading.Thread(target=self._work, name="alerts", daemon=True)

    def __enter__(self) -> AlertThread:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()

    def _find(self) -> Sequence[Finding]:
        return diagnose(self._service, LOOK_BACK).causes

    def _work(self) -> None:
        while not self._ended.wait(self._every):
            try:
                if self._service.collection.is_leader:
                    self.alerts.look()
            except Exception as error:  # whatever it is, it looks again
                warn_operator(LOGGER, "the doctor failed, and looks again", where="alerts", why=error)
