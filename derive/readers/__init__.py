"""Readers stream the sentences or examples in a file. Input that cannot be read raises one `BadInput`, which
names the file and line; repairs and exclusions are counted by reason (docs/formats.md)."""
