"""Dashboard of the service: what happens, why a list looks as it does, and whether clicks arrive."""

from rankloop.dashboard.pages import Pages
from rankloop.dashboard.routes import page_routes

__all__ = ["Pages", "page_routes"]
