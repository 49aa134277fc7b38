"""Recipes of public data: addresses, digests, licences and places, and fetching."""
