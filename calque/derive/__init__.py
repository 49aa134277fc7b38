"""Derive synthetic languages from an existing language by composing transforms."""
