"""Recipes for public data (URLs, digests, licences and paths) and code to download it."""
