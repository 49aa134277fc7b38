"""Recipes for public data (URLs, digests, licences and paths) and their download."""
