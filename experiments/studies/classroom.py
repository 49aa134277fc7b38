"""The classroom study: the pocket study with more steps, more inference pairs, and five seeds."""

from dataclasses import replace

from derive.sources.pocket import Sizes
from experiments.studies.control import STEPS
from experiments.studies.pocket import SOURCE, pocket
from experiments.transfer_grid import TransferGrid


def classroom() -> TransferGrid:
    """The pocket study with more steps and inference pairs, and five seeds, so with intervals; hours on two cores."""
    small = pocket()
    # In 8 epochs models learn no more of the training data than they know of the test: more epochs help.
    slowly = replace(small.finetune["nli"], learning_rate=5e-4, head_rate=1, epochs=16)
    return replace(
        small,
        name="classroom",
        source=replace(SOURCE, nli=Sizes(train=25_000, dev=300, test=2_000)),
        seeds=(0, 1, 2, 3, 4),
        train=replace(small.train, steps=STEPS),
        finetune={**small.finetune, "nli": slowly},
    )
