"""Pocket English: a small artificial language with gold-standard trees, tags, entities and inference
labels."""
