"""HTTP API of the service: routes, keys, limits, deadlines."""

from rankloop.service.http.app import create_app
from rankloop.service.http.app_context import AppContext
from rankloop.service.http.bearer_keys import Keys
from rankloop.service.http.http_settings import HttpSettings
from rankloop.service.http.server import bind, running, serve

__all__ = ["AppContext", "HttpSettings", "Keys", "bind", "create_app", "running", "serve"]
