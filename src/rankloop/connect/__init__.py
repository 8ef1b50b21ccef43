"""Connectors: search engines, databases, web sites and click logs of others, joined to the service."""

from rankloop.connect.middleware import AsgiMiddleware
from rankloop.connect.opensearch import OpenSearch
from rankloop.connect.postgres_search import PostgresSearch
from rankloop.connect.reranker import Reranker
from rankloop.connect.wsgi import WsgiMiddleware

__all__ = ["AsgiMiddleware", "OpenSearch", "PostgresSearch", "Reranker", "WsgiMiddleware"]
