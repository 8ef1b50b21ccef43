"""Policies with any scorer and a replay memory."""
