"""Objectives whose steps cost more than MLM's, on one derived pair, matched by compute time instead of steps."""

from calque.analysis.papers.equal_terms import PLAIN
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.objectives_pocket import objectives_pocket
from calque.experiments.study import Study
from calque.pretrain.objective import After
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.ppa import PPA

TIME = "1.5 hours"
SHORT = After(PPA(mask_rate=MASKS, queue=2_048, momentum=0.99), MLM(MASKS))
"""PPA with a queue that a few hundred steps fill, with few duplicates among the study's 8,000 or so pairs."""
PACES = {
    "XLM": 0.89,
    "XLM-ALIGN-after-MLM": 0.84,
    "WORD-ALIGNED-after-MLM": 0.79,
    "WEAM-after-MLM": 0.76,
    SHORT.name: 0.69,
}
"""The part of 3,000 steps that takes the CPU time of MLM's 3,000: medians of three rounds, taking turns.

A step of any other objective takes 0.98 to 1.03 times one of MLM's.
"""


def objectives_seconds() -> Study:
    """MLM and the costlier objectives of `objectives_pocket`, matched by compute time; PPA with a shorter queue.

    The other objectives would have the same steps as there, because a step of theirs costs about the same as MLM's.
    """
    steps = objectives_pocket()
    dear = tuple(SHORT if "PPA" in objective.name else objective for objective in steps.objectives)
    own = tuple(objective for objective in dear if objective.name in {PLAIN, *PACES})
    return steps.changed(name="objectives_seconds", objectives=own, paces=PACES)
