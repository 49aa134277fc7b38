"""Measure models, and report the results."""
