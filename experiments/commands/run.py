"""`calque run`: do all of a study: derive, pretrain, evaluate, report. Finished work is skipped."""

from __future__ import annotations

from experiments.commands.options import STAGES, Change, Exp, Jobs, Root, Set, computed, opened, reported
from experiments.places import ROOT
from experiments.signals import RESUMES, leaving


@leaving(RESUMES)
def run(exp: Exp, settings: Set = None, runs: Root = ROOT, jobs: Jobs = None, allow_change: Change = False) -> None:
    """Do all of a study: derive, pretrain, evaluate, report. Finished work is skipped."""
    study = opened(exp, settings)
    computed(study, runs, STAGES, jobs, allow_change)
    reported(study, runs, settings)
