"""Dashboard of the service: what happens, why a list looks as it does, and whether clicks arrive."""

from rankloop.service.pages.error_pages import page_routes
from rankloop.service.pages.shell import Pages

__all__ = ["Pages", "page_routes"]
