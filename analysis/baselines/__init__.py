"""Baselines that need no model: what a task's scores are held against."""
