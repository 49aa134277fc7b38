"""Objectives whose steps cost more than MLM's, on one derived pair, with equal seconds instead of equal steps."""

from calque.analysis.papers.equal_terms import PLAIN
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.objectives_pocket import objectives_pocket
from calque.experiments.study import Study
from calque.pretrain.objective import After
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.ppa import PPA

TIME = "1.5 hours"
NEEDS = ""
SHORT = After(PPA(mask_rate=MASKS, queue=2_048, momentum=0.99), MLM(MASKS))
"""PPA with a queue that a few hundred steps can fill and that holds few pairs twice: there are some 8,000 to read."""
PACES = {
    "XLM": 0.89,
    "XLM-ALIGN-after-MLM": 0.84,
    "WORD-ALIGNED-after-MLM": 0.79,
    "WEAM-after-MLM": 0.76,
    SHORT.name: 0.69,
}
"""Of 3,000 steps, what takes as many CPU seconds as MLM's: `python -m experiments.bench paces`, three rounds.

A step of those that are not named takes 0.98 to 1.03 of one of MLM's.
"""


def objectives_seconds() -> Study:
    """`objectives_pocket`'s MLM, and what costs more a step with the steps there is time for; PPA with a shorter queue.

    The other objectives would be given the steps that they have there: a step of theirs costs as much as one of MLM's.
    """
    steps = objectives_pocket()
    dear = tuple(SHORT if "PPA" in objective.name else objective for objective in steps.objectives)
    own = tuple(objective for objective in dear if objective.name in {PLAIN, *PACES})
    return steps.changed(name="objectives_seconds", objectives=own, paces=PACES)
