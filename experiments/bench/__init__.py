"""Benchmarks against what a user would take otherwise, both in one run: `python -m experiments.bench NAME...`."""
