"""My own study: two objectives on two derived languages.

calque plan my_study.py
calque run my_study.py
"""

from dataclasses import replace

from calque.derive.order import Invert
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate
from calque.experiments.studies.pocket import MASKS, pocket
from calque.experiments.study import Study
from calque.pretrain.objectives.dictionary import AlignMLM
from calque.pretrain.objectives.mlm import MLM


def my_study() -> Study:
    """Does a dictionary help more when word order differs too? With one seed, the answer is preliminary."""
    study = pocket()  # defaults for everything not changed below
    return study.changed(
        name="my_study",  # the folder of its results, runs/my_study
        transforms=(Transliterate(), compose(Transliterate(), Invert())),
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        train=replace(study.train, steps=1_000),
        tasks={"pos": study.tasks["pos"]},
        seeds=(0,),
    )
