"""Readers stream a file's sentences or examples; they count repairs and exclusions (docs/formats.md)."""
