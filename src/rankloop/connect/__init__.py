"""Connectors: search engines, databases, web sites and click logs of others, joined to the service."""

from rankloop.connect.asgi import AsgiMiddleware
from rankloop.connect.opensearch import OpenSearch
from rankloop.connect.postgres_search import PostgresSearch
from rankloop.connect.rerank import Reranker
from rankloop.connect.wsgi import WsgiMiddleware

__all__ = ["AsgiMiddleware", "OpenSearch", "PostgresSearch", "Reranker", "WsgiMiddleware"]
