"""Readers stream the items of a file: sentences, pairs, questions, links. A reader refuses unreadable input with one
`BadInput` that names file and line, and counts repairs and exclusions by reason in a given `Counter`; docs/data.md
lists them for each format. Files are opened, and their lines decoded, in `lines`."""
