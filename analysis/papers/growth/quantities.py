"""What is followed over the steps of pretraining: one number a step and model for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.records.record import ALIGNMENT, CKA, GRADIENTS, HELD_OUT, LINEAR, RETRIEVAL
from analysis.statistics.intervals import Bounds


@dataclass(frozen=True)
class Quantity:
    """A number by its measure and metric.

    `name` is what a legend calls it and `axis` what an axis does, in a unit that is its value times `unit`. It leaves
    its null upwards (`side` +1) or downwards (-1). Of a `layered` one the main layer is followed. `said` explains it.
    `bounds` are the least and the greatest that it can be, in that unit.
    """

    name: str
    axis: str
    measure: str
    metric: str
    said: str
    unit: float = 100.0
    bounds: Bounds = (0.0, 100.0)
    side: int = 1
    layered: bool = False


LOSS = Quantity(
    "loss",
    "loss, nats",
    HELD_OUT,
    "nats",
    "Loss is that of the derived language on text that no model has read, always the same ids masked; its chance "
    "level is "
    "the loss of who knows how frequent types are, and its null the loss with the masked ids shuffled, so below them a "
    "model reads the context.",
    unit=1.0,
    bounds=(0.0, math.inf),
    side=-1,
)
PULL = Quantity(
    "gradients",
    "gradient cosine",
    GRADIENTS,
    "layers",
    "Gradient cosine: of the MLM loss on text of the source and on other text of the derived language, over the "
    "weights of the encoder’s layers, which both share; null: the wider of two, the units of each weight shuffled, and "
    "what other text of the same size would change.",
    unit=1.0,
    bounds=(-1.0, 1.0),
)
TAGS = Quantity(
    "zero-shot tags",
    "zero-shot tags, %",
    LINEAR,
    "accuracy",
    "Zero-shot tags: of derived words, by a linear probe on frozen last-layer vectors that learnt from source "
    "sentences; chance is the most frequent tag, null the wider of two: tags shuffled among words of the same place in "
    "sentences of the same length, and types exchanged for others as frequent.",
)
TYPES = Quantity(
    "all types",
    "alignment@1, all, %",
    ALIGNMENT,
    "all",
    "alignment@1: types whose most similar row of the embedding table, of the other language, is their translation; "
    "null: types shuffled among those of like frequency.",
)
UNTOLD = Quantity(
    "held-out types",
    "held-out types, %",
    ALIGNMENT,
    "held-out",
    "Held-out types are those that are not in the dictionary.",
)
SENTENCES = Quantity(
    "sentences",
    "sentences found, %",
    RETRIEVAL,
    "mexa",
    "Sentences found: mean vectors of parallel sentences whose cosine is higher than every other of either (MEXA, "
    "Kargaran et al. 2024).",
    layered=True,
)
ALIKE = Quantity(
    "CKA",
    "linear CKA",
    CKA,
    "sentences",
    "Linear CKA (Kornblith et al. 2019) of the same vectors; its chance level is that of the model before the first "
    "step, for translations share words with the same sentences, and its null that after types are exchanged for "
    "others as frequent. Of sentences found the null is translations shuffled among sentences of the same length. The "
    "layer is the one two thirds of the way up; records have all.",
    unit=1.0,
    bounds=(0.0, 1.0),
    layered=True,
)
PREDICTED, ALIGNED = (LOSS, PULL, TAGS), (TYPES, UNTOLD, SENTENCES, ALIKE)
"""Those of what a model does, and those of where words and sentences lie: a figure each."""
QUANTITIES = (*PREDICTED, *ALIGNED)
