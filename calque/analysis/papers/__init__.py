"""Tables, figures and claims for each paper."""
