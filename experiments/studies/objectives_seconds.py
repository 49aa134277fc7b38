"""Every objective on one derived pair, on every kind of task, with equal seconds instead of equal steps."""

from dataclasses import replace

from experiments.studies.objectives_pocket import objectives_pocket
from experiments.transfer_grid import TransferGrid

PACES = {
    "XLM": 0.89,
    "XLM-ALIGN-after-MLM": 0.84,
    "WORD-ALIGNED-after-MLM": 0.79,
    "WEAM-after-MLM": 0.76,
    "PPA-after-MLM": 0.38,
}
"""Of 3,000 steps, what takes as many CPU seconds as MLM's: `python -m experiments.bench.paces`, three rounds.

A step of those that are not named takes 0.98 to 1.03 of one of MLM's.
"""


def objectives_seconds() -> TransferGrid:
    """`objectives_pocket` with steps as its objectives have time for in the seconds that MLM takes for 3,000."""
    return replace(objectives_pocket(), name="objectives_seconds", paces=PACES)
