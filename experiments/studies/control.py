"""The control: MLM under a new script alone, where the papers find that nothing is lost."""

from dataclasses import replace

from calque.derive.script import Transliterate
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.pretrain.objectives.mlm import MLM

TIME = "10 minutes"
STEPS = 5_000  # the fewest steps found with alignment@1 above 80 %


def control() -> Study:
    """MLM under Trans alone, in the setting of `align_mlm_pocket`, five seeds; docs/control.md explains the setting."""
    small = small_grid()
    return small.changed(
        name="control",
        transforms=(Transliterate(),),
        objectives=(MLM(MASKS),),
        seeds=(0, 1, 2, 3, 4),
        tasks={"pos": small.tasks["pos"]},
        train=replace(small.train, steps=STEPS, probe_every=500, log_every=500),
    )
