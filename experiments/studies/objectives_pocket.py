"""All objectives on one pair of languages and every kind of task, with equal budgets."""

from dataclasses import replace

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import Sizes
from calque.derive.transform import compose
from calque.experiments.studies.objectives import MASKS, OF_ALIGN_MLM
from calque.experiments.studies.pocket import ROMANCE, SOURCE, small_grid
from calque.experiments.study import Study
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.objective import After
from calque.pretrain.objectives.link import Link
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.ppa import PPA
from calque.pretrain.objectives.prealign import PreAlign
from calque.pretrain.objectives.weam import WEAM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm_align import XLMAlign

CONTINUED = (XLMAlign(mask_rate=MASKS), WEAM(mask_rate=MASKS), PPA(mask_rate=MASKS), WordAligned())
"""Objectives that start from a pretrained model in their papers, and here from MLM trained for half of the
steps."""
FROZEN = WordAligned(frozen=True)  # word-aligned BERT as in its author's code


def objectives_pocket() -> Study:
    """All objectives with equal steps and batches, on Trans + Syn and five kinds of tasks."""
    small = small_grid()
    return small.changed(
        name="objectives_pocket",
        paper="equal_terms",
        source=replace(
            SOURCE,
            nli=Sizes(train=4_000, dev=300, test=2_000),
            qa=Sizes(train=2_000, dev=300, test=1_000),
            paraphrase=Sizes(train=6_000, dev=300, test=2_000),
        ),
        transforms=(compose(Transliterate(), ROMANCE),),
        objectives=(
            *OF_ALIGN_MLM,
            Link(mask_rate=MASKS),
            PreAlign(mask_rate=MASKS),
            *(After(objective, MLM(MASKS)) for objective in (*CONTINUED, FROZEN)),
        ),
        seeds=(0, 1, 2, 3, 4),
        train=replace(small.train, steps=3_000),
        tasks={
            **small.tasks,
            "qa": CrossLingualTask(
                FinetuneConfig(learning_rate=1e-3, head_rate=5, epochs=6, batch=32, dropout=0.0)
            ),
            "paraphrase": CrossLingualTask(
                FinetuneConfig(learning_rate=2e-3, head_rate=2, epochs=6, batch=64, dropout=0.0)
            ),
        },
    )
