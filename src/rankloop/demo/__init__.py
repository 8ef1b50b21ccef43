"""Demo: a shop that learns live, beside plain search, with a simulated crowd."""
