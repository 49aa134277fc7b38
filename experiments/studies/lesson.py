"""The lesson's study: models that are trained already, so that a class fine-tunes and measures them in two minutes."""

from dataclasses import replace

from calque.derive.sources.pocket import Sizes
from calque.experiments.lessons import MODELS
from calque.experiments.measures import Alignment
from calque.experiments.studies.pocket import SOURCE, pocket, small_grid
from calque.experiments.study import Study

TIME = "2 minutes"


def lesson() -> Study:
    """Does a dictionary help when script and word order differ? Four trained models of each objective, POS only."""
    study = pocket()
    return study.changed(
        name="lesson",
        source=replace(SOURCE, pos=Sizes(train=1_000, dev=300, test=1_000)),
        train=small_grid().train,
        tasks={"pos": study.tasks["pos"]},
        measures=(Alignment(),),
        shipped=MODELS,
    )
