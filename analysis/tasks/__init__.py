"""Tasks for fine-tuning and scoring, one file each."""
