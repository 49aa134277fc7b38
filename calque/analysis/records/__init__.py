"""Measured numbers and their runs, each stored as a JSON row."""
