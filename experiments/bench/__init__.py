"""Speed benchmarks against other libraries: `calque bench NAME...`."""
