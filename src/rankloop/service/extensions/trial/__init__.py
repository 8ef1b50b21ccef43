"""Live comparison of two rankers."""
