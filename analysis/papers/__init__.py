"""One folder a paper: its tables, figures and claims."""
