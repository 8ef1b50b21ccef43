"""Rooms of the service that can be left out."""
