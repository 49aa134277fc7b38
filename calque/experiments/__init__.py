"""Studies, their reports, benchmarks and the command line."""
