"""Run the command `calque` as `python -m experiments`."""

from calque.experiments.cli import main

main()
