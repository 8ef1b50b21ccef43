"""scorers."""
