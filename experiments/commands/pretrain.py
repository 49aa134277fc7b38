"""`calque pretrain`: pretrain every model of a study; under torchrun, all processes share each model's batches."""

from __future__ import annotations

from experiments.commands.options import Change, Exp, Jobs, Root, Set, computed, opened
from experiments.places import ROOT
from experiments.signals import RESUMES, leaving


@leaving(RESUMES)
def pretrain(
    exp: Exp, settings: Set = None, runs: Root = ROOT, jobs: Jobs = None, allow_change: Change = False
) -> None:
    """Pretrain every model of a study; under torchrun, all processes share each model's batches."""
    computed(opened(exp, settings), runs, ["derive", "pretrain"], jobs, allow_change)
