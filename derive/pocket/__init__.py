"""Pocket English: a small artificial language with gold trees, tags, entities and inferences."""
