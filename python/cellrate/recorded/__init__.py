"""Recorded figures of a run: summary, series and distributions, and how they are said in tables."""
