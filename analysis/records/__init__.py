"""Measured numbers, and their runs: one JSON row each."""
