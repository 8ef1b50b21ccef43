"""Fair."""
