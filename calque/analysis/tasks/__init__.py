"""Tasks for fine-tuning and scoring models."""
