"""Studies, tables, figures, benchmarks, and the only command line."""
