"""Objectives that studies of Pocket English compare, all with the same mask rate."""

from pretrain.objective import Objective
from pretrain.objectives.align_mlm import AlignMLM
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.link import Link
from pretrain.objectives.mlm import MLM
from pretrain.objectives.prealign import PreAlign
from pretrain.objectives.xlm import XLM
from pretrain.objectives.xlm_align import XLMAlign

MASKS = 0.3  # twice the usual share of masks, for every objective: nearly twice the signal from the same text

OF_ALIGN_MLM: tuple[Objective, ...] = (
    MLM(MASKS),
    XLM(mask_rate=MASKS),
    DictMLM(mask_rate=MASKS),
    AlignMLM(mask_rate=MASKS),
)
"""The four that ALIGN-MLM compares."""

FROM_SCRATCH: tuple[Objective, ...] = (
    *OF_ALIGN_MLM,
    XLMAlign(mask_rate=MASKS),
    PreAlign(mask_rate=MASKS),
    Link(mask_rate=MASKS),
)
"""The objectives that can start from random weights and read sentences of one language too."""
