"""Readers stream the items of a file: sentences, pairs, questions, links. Each refuses what it cannot read with one
`BadInput` that names file and line, and counts by reason, in a `Counter` that it is given, what it repairs or leaves
out: docs/data.md says what that is for each format. Files are opened, and their lines decoded, in `lines`."""
