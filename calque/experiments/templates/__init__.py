"""Templates for `calque new`: custom parts, in which names are replaced by the user's."""
