"""Fair exposure of groups."""
