"""Join records for tables, figures and claims."""
