"""`python -m experiments` is the command `calque`."""

from calque.experiments.cli import main

main()
