"""The start of self-labelled alignment: XLM-Align with an exactly known gold alignment."""

from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.transform import compose
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.pretrain.objective import After
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import XLM
from calque.pretrain.objectives.xlm_align import XLMAlign

TIME = "1 hour"
TRANSFORMS = (Transliterate(), compose(Transliterate(), Invert()))


def xlm_align_pocket() -> Study:
    """XLM-Align from scratch, after MLM, after ALIGN-MLM and with gold labels, three seeds."""
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
        tasks={task: small.tasks[task] for task in ("pos", "ner")},  # 8,000 inference pairs teach too little
    )
