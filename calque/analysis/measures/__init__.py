"""Measures of a model: alignment of types, words and sentences, and interventions."""
