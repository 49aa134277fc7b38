"""What inference pairs are made of: statements, what one says of another, families of them, their words."""
