"""Readers stream a file's sentences or examples. Invalid input raises `BadInput` with the file and line;
repairs and exclusions are counted by reason (docs/formats.md)."""
