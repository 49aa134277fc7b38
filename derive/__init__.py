"""Derive synthetic languages from an existing one by composing transforms."""
