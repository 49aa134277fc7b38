"""Natural languages: text and bitexts in any languages, with a given vocabulary."""
