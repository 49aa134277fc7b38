"""Inspect a checkpoint: its guesses, nearest words and alignment."""
