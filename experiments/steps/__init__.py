"""The kinds of steps that studies are made of."""
