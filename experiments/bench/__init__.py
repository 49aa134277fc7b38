"""Benchmarks against the usual alternatives, both in one run: `calque bench NAME...`."""
