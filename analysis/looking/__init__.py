"""Looks into a checkpoint: its guesses, nearest words, alignment and attention."""
