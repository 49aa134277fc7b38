"""Measures of a model: alignment of types, words and sentences, held-out loss, knowledge and probes."""
