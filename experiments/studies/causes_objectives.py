"""What follows for training: an objective that rotates once, and one that keeps words apart."""

from pathlib import Path

from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.transform import compose
from calque.experiments.studies.causes import causes
from calque.experiments.studies.objectives import MASKS
from calque.experiments.study import Study
from calque.pretrain.objective import After
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.repel_mlm import RepelMLM
from calque.pretrain.objectives.rotate_mlm import RotateMLM
from calque.pretrain.objectives.word_aligned import WordAligned

TIME = "not run"
LATE = 0.75
"""The share of the steps before the rotation: in `causes`, half of the types are aligned up to a rotation by then."""


def causes_objectives() -> Study:
    """MLM rotated once, or kept from aligning, with ALIGN-MLM and word-aligned BERT under Trans + Inv; five seeds."""
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
