"""Loading studies by name or file, and setting their values from text: `--set` and `--sweep`."""
