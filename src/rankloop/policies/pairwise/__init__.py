"""Pairwise."""
