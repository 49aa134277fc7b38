"""Measuring models, and reporting the measurements."""
