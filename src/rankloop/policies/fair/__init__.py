"""Policies that share exposure among groups."""
