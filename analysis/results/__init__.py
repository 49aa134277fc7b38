"""Records joined: the one place where tables, figures and claims look numbers up."""
