"""Languages made out of a language, one difference at a time."""
