"""The study of knowledge: facts that the source's text alone states, asked in the derived language."""

from dataclasses import replace

from derive.order import Invert
from derive.pocket.facts import Facts
from derive.pocket.language import Pocket
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish, Sizes
from derive.transform import compose
from experiments.studies.pocket import MASKS, pocket
from experiments.transfer_grid import TransferGrid
from pretrain.objectives.align_mlm import align_mlm
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.link import Link
from pretrain.objectives.mlm import MLM
from pretrain.objectives.prealign import PreAlign
from pretrain.objectives.xlm import xlm
from pretrain.objectives.xlm_align import DWA, xlm_align


def knowledge() -> TransferGrid:
    """Facts of Pocket English under Trans and Trans+Inv, seven objectives, one seed: half an hour on two cores."""
    small = pocket()
    return replace(
        small,
        name="knowledge",
        source=PocketEnglish(Pocket(types=300), 40_000, pos=Sizes(2_000, 300, 1_000), facts=Facts()),
        transforms=(Transliterate(), compose(Transliterate(), Invert())),
        objectives=(
            MLM(MASKS),
            xlm(mask_rate=MASKS),
            DictMLM(mask_rate=MASKS),
            align_mlm(mask_rate=MASKS),
            xlm_align(DWA(mask_rate=MASKS)),
            PreAlign(mask_rate=MASKS),
            Link(mask_rate=MASKS),
        ),
        vocabulary=1_000,
        finetune={"pos": small.finetune["pos"]},
    )
