"""Reports about a service."""
