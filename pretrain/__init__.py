"""Pretraining: models, objectives and training."""
