"""Word aligners that read sentence pairs and return links."""
