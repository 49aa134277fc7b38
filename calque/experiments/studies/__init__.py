"""Functions that return studies."""
