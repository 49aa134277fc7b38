"""Word aligners with one protocol: sentence pairs in, links out."""
