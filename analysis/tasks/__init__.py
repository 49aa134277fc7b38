"""Tasks to fine-tune and be scored on, one file each."""
