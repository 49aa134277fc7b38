"""Run the command `calque` as `python -m calque`."""

from calque.experiments.cli import main

main()
