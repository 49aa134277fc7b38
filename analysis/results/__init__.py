"""Joined records: the one place where tables, figures and claims look up numbers."""
