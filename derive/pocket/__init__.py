"""Pocket English: a small language of our own, with trees, tags, entities and inferences that are known."""
