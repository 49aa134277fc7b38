"""Readers stream the items of a file. They refuse unreadable input with one `BadInput` that names file and
line, and count repairs and exclusions by reason (docs/formats.md)."""
