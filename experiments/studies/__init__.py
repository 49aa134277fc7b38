"""One study per file: a function that returns its values."""
