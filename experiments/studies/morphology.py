"""The study of morphology: transfer to languages whose words are built otherwise."""

from dataclasses import replace

from calque.derive.script import Transliterate
from calque.derive.transform import compose
from calque.derive.words import Agglutinate, Split
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM

TIME = "40 minutes"


def morphology() -> Study:
    """Does transfer fall with agglutination? Function words as endings, half of them and all, and endings as words."""
    small = small_grid()
    changes = Agglutinate(0.5), Agglutinate(), Split()
    return small.changed(
        name="morphology",
        transforms=(Transliterate(), *(compose(Transliterate(), change) for change in changes)),
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        train=replace(small.train, steps=2_000),
        tasks={task: small.tasks[task] for task in ("pos", "ner")},
        seeds=(0, 1, 2),
    )
