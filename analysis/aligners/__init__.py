"""Word aligners: sentence pairs in, links out, one protocol."""
