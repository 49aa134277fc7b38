"""Every objective that there is, as studies of Pocket English compare them: with one share of masks."""

from pretrain.objective import Objective
from pretrain.objectives.align_mlm import align_mlm
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.link import Link
from pretrain.objectives.mlm import MLM
from pretrain.objectives.prealign import PreAlign
from pretrain.objectives.xlm import xlm
from pretrain.objectives.xlm_align import DWA, xlm_align

MASKS = 0.3
"""Twice the usual share of masks, for every objective: nearly twice the signal from the same text."""

OF_ALIGN_MLM: tuple[Objective, ...] = (
    MLM(MASKS),
    xlm(mask_rate=MASKS),
    DictMLM(mask_rate=MASKS),
    align_mlm(mask_rate=MASKS),
)
"""The four that ALIGN-MLM compares."""

OBJECTIVES: tuple[Objective, ...] = (
    *OF_ALIGN_MLM,
    xlm_align(DWA(mask_rate=MASKS)),
    PreAlign(mask_rate=MASKS),
    Link(mask_rate=MASKS),
)
