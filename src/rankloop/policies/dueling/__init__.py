"""Policies that compare themselves with nearby rankers by interleaving."""
