"""Benchmarks against the usual alternatives, both in one run: `python -m experiments.bench NAME...`."""
