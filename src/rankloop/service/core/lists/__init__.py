"""Serving: from a request and its candidates to the list that is shown."""
