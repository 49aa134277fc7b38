"""Load studies by name or file, and set their values from text (`--set` and `--sweep`)."""
