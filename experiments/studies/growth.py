"""The growth study: what two languages come to have in common during pretraining, and what of it comes first."""

from dataclasses import replace

from derive.pocket.language import Pocket
from derive.sources.pocket import PocketEnglish, Sizes
from experiments.growth_grid import GrowthGrid
from experiments.studies.objectives import OBJECTIVES
from experiments.studies.pocket import small_grid


def growth() -> GrowthGrid:
    """Pocket English under Trans, Trans+Inv and Trans+Syn, five seeds, probed twice a doubling of the steps."""
    small, text = small_grid(), Pocket(types=300)
    return GrowthGrid(
        name="growth",
        source=PocketEnglish(language=text, size=40_000, pos=Sizes(train=300, dev=100, test=400)),
        transforms=small.transforms,
        objectives=OBJECTIVES,
        seeds=(0, 1, 2, 3, 4),
        vocabulary=small.vocabulary,
        model=small.model,
        train=replace(small.train, snapshots=2, probe_every=0),
    )
