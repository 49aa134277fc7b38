"""Natural languages: text and bitexts of any languages with a given vocabulary."""
