"""Policies with a logistic model of pairs."""
