"""Demo: a search page over Python's own documentation that learns live, with a simulated crowd."""
