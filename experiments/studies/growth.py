"""How, and in what order, two languages become similar during pretraining."""

from dataclasses import replace

from calque.derive.pocket.language import Pocket
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.experiments.studies.objectives import FROM_SCRATCH
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.experiments.study.measures import Growth
from calque.pretrain.mixture import Mixture


def growth() -> Study:
    """Models of Pocket English, probed twice per doubling of the number of steps."""
    small, text = small_grid(), Pocket(types=300)
    return small.changed(
        name="growth",
        paper="growth",
        source=PocketEnglish(language=text, size=40_000, pos=Sizes(train=300, dev=100, test=400)),
        objectives=FROM_SCRATCH,
        seeds=(0, 1, 2, 3, 4),
        tasks={},
        measures=(Growth("pos"),),
        mixture=Mixture(held_out=0.02),
        train=replace(small.train, snapshots=2, probe_every=0),
    )
