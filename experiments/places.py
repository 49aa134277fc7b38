"""Where commands put what they make."""

from pathlib import Path

ROOT = Path("runs")
"""The folder for results, unless a command is given another."""
CACHE = "cache"
"""The folder below it for what studies share: grammars that were learnt, trees that were parsed, digests of files."""
