"""Promise."""
