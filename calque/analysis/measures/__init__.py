"""Measures of a model: alignment of types, words and sentences, knowledge and probes."""
