"""Pocket English: a small artificial language with gold trees, tags, entities and inference labels."""
