"""Numbers that were measured, one JSON row each, and where they are looked up."""
