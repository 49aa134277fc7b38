"""Recipes of public data: what is fetched from where, its digests and licences, and where it goes."""
