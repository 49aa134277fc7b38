"""Studies by name or file, and their values from text: `--set` and `--sweep`."""
