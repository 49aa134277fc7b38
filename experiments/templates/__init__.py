"""Templates for `calque new`: custom parts with tests, whose names are replaced by the user's."""
