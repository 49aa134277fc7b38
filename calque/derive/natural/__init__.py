"""Natural languages: text and bitexts in any language, encoded with an existing vocabulary."""
