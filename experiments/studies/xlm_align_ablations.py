"""Tables 3 to 7 of XLM-Align: its objective without its parts, and with other values."""

from dataclasses import replace

from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.xlm_align_pocket import TRANSFORMS, xlm_align_pocket
from calque.experiments.study import Study
from calque.pretrain.objective import After
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm_align import XLMAlign

TIME = "30 minutes"


def xlm_align_ablations() -> Study:
    """Tables 3 to 7 of XLM-Align under Trans + Inv, each after ALIGN-MLM; three seeds."""
    whole = XLMAlign(mask_rate=MASKS)
    parts = (
        whole,
        replace(whole, queries="none"),
        replace(whole, tlm=False),
        replace(whole, label_layer=1),
        replace(whole, layer=1),
        replace(whole, filtering=False),
        replace(whole, queries="unmasked"),
        replace(whole, queries="all-aligned"),
        replace(whole, first="rows"),
        replace(whole, labels="gold"),
    )
    start, pocket = AlignMLM(mask_rate=MASKS), xlm_align_pocket()
    return pocket.changed(
        name="xlm_align_ablations",
        transforms=TRANSFORMS[1:],
        objectives=(After(MLM(MASKS), start), *(After(part, start) for part in parts)),
    )
