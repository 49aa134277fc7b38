"""Templates for `calque new`: custom parts and their tests, in which names are replaced by the user's."""
