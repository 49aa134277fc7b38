"""Readers stream a file's items. Unreadable input raises one `BadInput` that names file and line; repairs and
exclusions are counted by reason (docs/formats.md)."""
