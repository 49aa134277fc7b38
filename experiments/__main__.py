"""`python -m experiments` is the command `calque`."""

from experiments.cli import main

main()
