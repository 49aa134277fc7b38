"""Galactic dependencies (Wang and Eisner 2016)."""
