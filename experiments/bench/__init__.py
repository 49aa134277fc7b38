"""Benchmarks against common alternatives, measured in the same run: `calque bench NAME...`."""
