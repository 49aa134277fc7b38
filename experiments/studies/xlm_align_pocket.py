"""What starts self-labelled alignment: XLM-Align where the gold alignment is known exactly."""

from derive.order import Invert
from derive.script import Transliterate
from derive.transform import compose
from experiments.studies.objectives import MASKS
from experiments.studies.pocket import small_grid
from experiments.study import Study
from pretrain.objective import After
from pretrain.objectives.align_mlm import AlignMLM
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm import XLM
from pretrain.objectives.xlm_align import XLMAlign

TRANSFORMS = (Transliterate(), compose(Transliterate(), Invert()))


def xlm_align_pocket() -> Study:
    """XLM-Align from scratch, after MLM, after ALIGN-MLM and with gold labels, three seeds: an hour on two cores."""
    small, aligned = small_grid(), XLMAlign(mask_rate=MASKS)
    mlm, dictionary = MLM(MASKS), AlignMLM(mask_rate=MASKS)
    return small.changed(
        name="xlm_align_pocket",
        paper="xlm_align",
        transforms=TRANSFORMS,
        objectives=(
            mlm,
            XLM(mask_rate=MASKS),
            dictionary,
            XLMAlign(mask_rate=MASKS, queries="none"),
            aligned,
            After(aligned, mlm),
            After(aligned, dictionary),
            XLMAlign(mask_rate=MASKS, labels="gold"),
        ),
        seeds=(0, 1, 2),
        tasks={task: small.tasks[task] for task in ("pos", "ner")},  # of 8,000 inference pairs little is learnt
    )
