"""explorers."""
