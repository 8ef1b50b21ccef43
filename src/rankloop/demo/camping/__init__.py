"""Recommendations of the demo: camping gear with reviews written for it, an interview, and reasons."""
