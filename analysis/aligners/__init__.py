"""Word aligners with a common interface: they read sentence pairs and return links."""
