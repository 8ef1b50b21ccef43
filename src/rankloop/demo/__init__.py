"""Demo: a shop and a documentation search that learn live, beside plain search, with a simulated crowd."""
