"""Real sentences: the comparison of ALIGN-MLM on the short sentences that Calque ships (docs/everyday.md)."""

from dataclasses import replace
from pathlib import Path

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.sources.everyday import everyday as everyday_english
from calque.derive.sources.everyday import french_order
from calque.derive.transform import compose
from calque.experiments.measures import PAIR_MEASURES, DerivationRetrieval
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.experiments.tasks import CrossLingualTask

TIME = "6 core hours"
TAGGING = FinetuneConfig(learning_rate=7e-4, head_rate=20, epochs=12, dropout=0.0, freeze_table=True)
"""The table is frozen because fine-tuning on the source would move its words away from their counterparts."""


def everyday() -> Study:
    """Real short sentences: ALIGN-MLM's four objectives under a new script, reversed, and in French order."""
    small, script = small_grid(), Transliterate()
    return small.changed(
        name="everyday",
        source=everyday_english(types=2_000),
        transforms=(script, compose(script, Invert()), compose(script, french_order())),
        vocabulary=1_500,
        seeds=(0, 1, 2, 3, 4),
        measures=(*PAIR_MEASURES, DerivationRetrieval()),
        claims=Path(__file__).with_name("everyday.claims.toml"),
        train=replace(
            small.train,
            steps=8_000,
            learning_rate=8e-3,
            warmup=300,
            log_every=250,
            probe_every=500,
            save_every=2_000,
        ),
        tasks={name: CrossLingualTask(TAGGING) for name in ("pos", "ner")},
    )
