"""Tables, figures and claims, one folder per paper."""
