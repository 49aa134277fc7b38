"""Objectives compared in studies of Pocket English, all with the same mask rate."""

from calque.pretrain.objective import Objective
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.link import Link
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.prealign import PreAlign
from calque.pretrain.objectives.xlm import XLM
from calque.pretrain.objectives.xlm_align import XLMAlign

MASKS = 0.3  # twice the usual rate, for nearly twice the training signal per sentence

OF_ALIGN_MLM: tuple[Objective, ...] = (
    MLM(MASKS),
    XLM(mask_rate=MASKS),
    DictMLM(mask_rate=MASKS),
    AlignMLM(mask_rate=MASKS),
)
"""The four objectives compared in the ALIGN-MLM paper."""

FROM_SCRATCH: tuple[Objective, ...] = (
    *OF_ALIGN_MLM,
    XLMAlign(mask_rate=MASKS),
    PreAlign(mask_rate=MASKS),
    Link(mask_rate=MASKS),
)
"""The objectives that can start from random weights and that also read monolingual sentences."""
