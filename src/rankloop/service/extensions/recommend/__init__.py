"""Recommending: candidates, reasons and interviews from a recommender, for the ordinary ranker."""
