"""Joined records, from which all tables, figures and claims take their numbers."""
