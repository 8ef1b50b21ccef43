"""interleaving."""
