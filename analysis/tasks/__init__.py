"""Tasks on which models are fine-tuned and scored."""
