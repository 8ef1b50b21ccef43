"""Sweeps: many runs, each done once, in any order, by any engine."""
