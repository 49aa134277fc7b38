"""Derives synthetic languages from an existing one, by transforms that compose."""
