"""XNLI scores by number of training examples, from a pretrained multilingual encoder."""

from dataclasses import replace

from calque.experiments.studies.xtreme_small import xtreme_small
from calque.experiments.study import Study

TIME = "1.25 hours"
NEEDS = "CALQUE_DATA, CALQUE_ENCODER"


def xtreme_curve() -> Study:
    """`xtreme_small`'s inference with 1,500 to 4,500 pairs, next to a published encoder trained on all of MultiNLI.

    Its 3,000 pairs and those of `xtreme_small` are different samples of LingNLI, with two thirds in common.
    """
    small = xtreme_small()
    pairs = small.tasks["nli"]
    files = pairs.files
    assert files
    curve = replace(pairs, files=replace(files, limit=4_500), sizes=(1_500, 3_000))
    return small.changed(name="xtreme_curve", tasks={"nli": curve}, measures=())
