"""Policies that choose one ad or one result."""
