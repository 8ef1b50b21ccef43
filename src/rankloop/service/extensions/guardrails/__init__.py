"""Guardrails."""
