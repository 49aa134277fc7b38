"""One study a file: a function that returns its values."""
