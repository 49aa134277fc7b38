"""The classroom study: the pocket study with more steps and five seeds."""

from dataclasses import replace

from experiments.studies.pocket import pocket
from experiments.transfer_grid import TransferGrid


def classroom() -> TransferGrid:
    """The pocket study with more steps and five seeds, so with intervals; about three hours on two cores."""
    small = pocket()
    return replace(small, name="classroom", seeds=(0, 1, 2, 3, 4), train=replace(small.train, steps=10_000))
