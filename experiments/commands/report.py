"""`calque report`: make tables, figures, claims and report.html from the records of a study; it computes nothing."""

from __future__ import annotations

from experiments.commands.options import Exp, Root, Set, opened, reported
from experiments.places import ROOT


def report(exp: Exp, settings: Set = None, runs: Root = ROOT) -> None:
    """Make tables, figures, claims and report.html from the records of a study; it computes nothing."""
    reported(opened(exp, settings), runs, settings)
