"""How XNLI grows with the training examples, from a pretrained multilingual encoder."""

from dataclasses import replace

from calque.experiments.studies.xtreme_small import xtreme_small
from calque.experiments.study import Study

TIME = "1.25 hours"
NEEDS = "CALQUE_DATA, CALQUE_ENCODER"


def xtreme_curve() -> Study:
    """`xtreme_small`'s inference with 1,500 to 4,500 pairs, beside what one of its size reached with all of MultiNLI.

    Its 3,000 pairs are not those of `xtreme_small`, with which they have two thirds in common: both are draws of the
    4,500 of LingNLI's 44,983.
    """
    small = xtreme_small()
    pairs = small.tasks["nli"]
    files = pairs.files
    assert files
    curve = replace(pairs, files=replace(files, limit=4_500), sizes=(1_500, 3_000))
    return small.changed(name="xtreme_curve", tasks={"nli": curve}, measures=())
