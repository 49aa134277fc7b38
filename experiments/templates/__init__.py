"""Templates for `calque new`: custom parts with tests, in which names are replaced by the user's."""
