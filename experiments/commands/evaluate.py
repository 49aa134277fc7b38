"""`calque evaluate`: pretrain missing models, fine-tune and score every model of a study, and measure its alignment."""

from __future__ import annotations

from experiments.commands.options import STAGES, Change, Exp, Jobs, Root, Set, computed, opened
from experiments.places import ROOT
from experiments.signals import RESUMES, leaving


@leaving(RESUMES)
def evaluate(
    exp: Exp, settings: Set = None, runs: Root = ROOT, jobs: Jobs = None, allow_change: Change = False
) -> None:
    """Pretrain missing models, fine-tune and score every model of a study, and measure its alignment."""
    computed(opened(exp, settings), runs, STAGES, jobs, allow_change)
