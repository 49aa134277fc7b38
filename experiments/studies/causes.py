"""Does alignment cause transfer? Interventions at test time, and the dictionary as a randomised trial."""

from pathlib import Path

from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.transform import compose
from calque.experiments.studies.everyday import everyday
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.experiments.study.measures import PAIR_MEASURES, ChangedRetrieval, Interventions
from calque.pretrain.objective import After
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.repel_mlm import RepelMLM
from calque.pretrain.objectives.rotate_mlm import RotateMLM
from calque.pretrain.objectives.word_aligned import WordAligned

LATE = 0.75
"""The share of steps before the rotation. At that point in `causes`, half of the types are aligned up to
rotation."""


def causes() -> Study:
    """Interventions on models of Pocket English."""
    return _interventions_on(small_grid(), "causes")


def causes_everyday() -> Study:
    """Interventions on models of Everyday English."""
    return _interventions_on(everyday(), "causes_everyday")


def _interventions_on(base: Study, name: str) -> Study:
    """Return `base` with interventions on MLM and ALIGN-MLM, and with new seeds; each seed samples its own
    data and dictionary."""
    return base.changed(
        name=name,
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        redraw=True,
        seeds=(10, 11, 12, 13, 14),
        tasks={task: base.tasks[task] for task in ("pos", "ner")},
        measures=(*PAIR_MEASURES, Interventions(), Interventions("ner"), ChangedRetrieval()),
        claims=Path(__file__).with_name("causes.claims.toml"),
    )


def causes_objectives() -> Study:
    """Objectives that test the interventions' conclusions in training, by rotating embeddings once or by
    keeping translations dissimilar."""
    return causes().changed(
        name="causes_objectives",
        transforms=(compose(Transliterate(), Invert()),),
        objectives=(
            MLM(MASKS),
            AlignMLM(mask_rate=MASKS),
            After(WordAligned(), MLM(MASKS)),
            RotateMLM(at=LATE, mask_rate=MASKS),
            RotateMLM(mask_rate=MASKS),
            RepelMLM(mask_rate=MASKS),
        ),
        seeds=(20, 21, 22, 23, 24),
        claims=Path(__file__).with_name("causes_objectives.claims.toml"),
    )
