"""Dueling."""
