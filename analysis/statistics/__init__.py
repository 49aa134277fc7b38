"""Intervals, correlations and verdicts."""
