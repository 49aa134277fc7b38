"""The study of several languages in one model, in equal and in unequal amounts: clones of one language."""

from dataclasses import replace

from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.experiments.measures import Alignment, Reading
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Alone, Study
from calque.pretrain.mixture import Mixture, shares
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM

TIME = "1.5 hours"
MIXTURES = (
    shares(0.5, 0.5),
    shares(0.9, 0.1),
    shares(1, 1, 1),
    shares(0.9, 0.05, 0.05),
    shares(0.2, 0.2, 0.2, 0.2, 0.2),
    shares(0.9, 0.025, 0.025, 0.025, 0.025),
)
"""Two, three and five languages; with unequal shares, the first has nine tenths and the others share the rest."""


def languages() -> Study:
    """Pocket English with one, two or four clones, in equal amounts or nine tenths of one.

    All models take the same number of steps, and the text is large enough that none reads a sentence twice.
    """
    small = small_grid()
    return small.changed(
        name="languages",
        paper="language_imbalance",
        source=PocketEnglish(language=Pocket(types=300), size=640_000, pos=Sizes(train=2_000, dev=300, test=1_000)),
        transforms=tuple(Transliterate(script=script) for script in (1, 2, 3, 4)),
        mixtures=MIXTURES,
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        mixture=Mixture(held_out=0.01),
        alone=Alone(
            MLM(MASKS),
            budgets=(0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0),
            batches=(2, 3, 6, 13, 21, 32),
        ),
        measures=(Reading(), Alignment()),
        seeds=(0, 1, 2),
        tasks={"pos": small.tasks["pos"]},
        train=replace(small.train, steps=3_000, probe_every=0),
    )
