"""Measures of a model: alignment@1, AER, contextual alignment, self-made labels."""
