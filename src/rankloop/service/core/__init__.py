"""Learning: what is in force and what was learned, as folds of the log."""
