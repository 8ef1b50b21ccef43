"""What a replica needs, loaded once: the process that starts replicas has it, and they begin with it."""

from __future__ import annotations

from benchmarks.chaos import replica
from rankloop.service.http import AppContext, Keys
from rankloop.service.http.app import create_app
from rankloop.service.pages import page_routes
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from rankloop.service.store.postgres import replica as connection

LOADED = (replica, connection, page_routes)
create_app(
    AppContext(service=ServiceFacade(open_temporary_store()), keys=Keys.fresh()[0])
)  # it loads the framework
