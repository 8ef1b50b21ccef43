"""Share of the clicks of the caller's order that is promised."""
