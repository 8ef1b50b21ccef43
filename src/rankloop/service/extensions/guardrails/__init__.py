"""Bounds on how far a result may move."""
