"""Real sentences: the comparison of ALIGN-MLM on the short sentences that Calque ships (docs/everyday.md)."""

from pathlib import Path

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.sources.everyday import everyday as everyday_english
from calque.derive.sources.everyday import french_order
from calque.derive.transform import compose
from calque.experiments.languages import DerivedLanguages
from calque.experiments.measures import PAIR_MEASURES, DerivationRetrieval
from calque.experiments.studies.objectives import OF_ALIGN_MLM
from calque.experiments.study import Study
from calque.experiments.tasks import CrossLingualTask
from calque.pretrain.config import ModelConfig, TrainConfig

TIME = "6 core hours"
TAGGING = FinetuneConfig(learning_rate=1e-3, head_rate=20, epochs=12, dropout=0.0, freeze_table=True)
"""The table is frozen because fine-tuning on the source would move its words away from their counterparts."""


def everyday() -> Study:
    """Real short sentences: ALIGN-MLM's four objectives under a new script, reversed, and in French order."""
    return Study(
        name="everyday",
        languages=DerivedLanguages(
            source=everyday_english(types=2_000),
            transforms=(
                Transliterate(),
                compose(Transliterate(), Invert()),
                compose(Transliterate(), french_order()),
            ),
            vocabulary=1_500,
        ),
        objectives=OF_ALIGN_MLM,
        seeds=(0, 1, 2, 3, 4),
        measures=(*PAIR_MEASURES, DerivationRetrieval()),
        claims=Path(__file__).with_name("everyday.claims.toml"),
        model=ModelConfig(layers=2, heads=4, hidden=64, ffn=256, length=32, dropout=0.0, initializer_range=0.1),
        train=TrainConfig(
            steps=8_000,
            batch=64,
            learning_rate=8e-3,
            warmup=300,
            weight_decay=0.2,
            betas=(0.9, 0.98),
            log_every=250,
            probe_every=500,
            save_every=2_000,
        ),
        tasks={name: CrossLingualTask(TAGGING) for name in ("pos", "ner")},
    )
