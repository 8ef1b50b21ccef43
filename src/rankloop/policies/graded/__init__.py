"""Policies that learn from grades of the results shown."""
