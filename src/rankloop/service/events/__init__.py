"""Events: what users did, and what is made of it."""
