"""The control: MLM under a new script alone, where the papers find that nothing is lost."""

from dataclasses import replace

from derive.script import Transliterate
from experiments.studies.objectives import MASKS
from experiments.studies.pocket import pocket
from experiments.transfer_grid import TransferGrid
from pretrain.objectives.mlm import MLM


def control() -> TransferGrid:
    """The pocket study's setting, MLM under Trans alone, three seeds: what docs/control.md searched it with."""
    small = pocket()
    return replace(
        small,
        name="control",
        transforms=(Transliterate(),),
        objectives=(MLM(MASKS),),
        seeds=(0, 1, 2),
        finetune={"pos": small.finetune["pos"]},
        train=replace(small.train, probe_every=500, log_every=500),
    )
