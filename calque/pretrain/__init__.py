"""Pretraining: models, objectives, and the training loop."""
