"""Policies for fixed items, known by their ids."""
