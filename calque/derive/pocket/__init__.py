"""Pocket English: a small artificial language with gold trees, tags and entities."""
