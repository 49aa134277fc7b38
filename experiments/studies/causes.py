"""Does alignment cause transfer? Interventions at test time, and the dictionary as a randomised trial."""

from pathlib import Path

from calque.experiments.measures import PAIR_MEASURES, ChangedRetrieval, Interventions
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM

TIME = "1 hour"


def causes() -> Study:
    """Does alignment cause transfer? MLM and ALIGN-MLM on Pocket English, changed at test time, five seeds."""
    return interventions_of(small_grid(), "causes")


def interventions_of(base: Study, name: str) -> Study:
    """A study's MLM and ALIGN-MLM on seeds that it does not use, each with its own dictionary."""
    return base.changed(
        name=name,
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        redraw=True,
        seeds=(10, 11, 12, 13, 14),
        tasks={task: base.tasks[task] for task in ("pos", "ner")},
        measures=(*PAIR_MEASURES, Interventions(), Interventions("ner"), ChangedRetrieval()),
        claims=Path(__file__).with_name("causes.claims.toml"),
    )
