"""HTTP API of the service: routes, keys, limits, deadlines."""

from rankloop.service.http.app import create_app
from rankloop.service.http.context import AppContext
from rankloop.service.http.keys import Keys, first_keys
from rankloop.service.http.server import bind, running, serve
from rankloop.service.http.settings import HttpSettings

__all__ = ["AppContext", "HttpSettings", "Keys", "bind", "create_app", "first_keys", "running", "serve"]
