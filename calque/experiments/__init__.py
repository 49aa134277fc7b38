"""Studies, their reports and the command line."""
