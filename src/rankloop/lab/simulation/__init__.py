"""Simulation: one policy meets one user, and is measured on the way."""
