"""Formats of other people's data, one file each. Strict: a malformed line is an error with file and line."""
