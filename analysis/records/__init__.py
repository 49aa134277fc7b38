"""Measured numbers and the runs that they describe, stored as one JSON row each."""
