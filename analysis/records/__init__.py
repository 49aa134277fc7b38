"""Numbers that were measured, and the runs that they are of: one JSON row each."""
