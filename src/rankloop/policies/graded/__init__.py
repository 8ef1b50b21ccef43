"""Graded."""
