"""Events: what users did, and the verdict on each."""
