"""Models made from languages."""
