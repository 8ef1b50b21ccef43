"""Policies that follow the gradient of a loss on pairs of results."""
