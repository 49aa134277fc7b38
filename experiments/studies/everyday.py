"""The ALIGN-MLM paper's comparison on real sentences, from Everyday English (docs/everyday.md) and Wikipedia,
and tests of whether alignment causes transfer: interventions at test time, and a randomised trial of the
dictionary (docs/causes.md)."""

import os
from dataclasses import replace
from pathlib import Path

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.sources.everyday import everyday as everyday_english
from calque.derive.sources.everyday import french_order
from calque.derive.transform import compose
from calque.experiments.studies.pocket import MASKS, small_grid
from calque.experiments.study import Study
from calque.experiments.study.measures import (
    PAIR_MEASURES,
    Alignment,
    ChangedRetrieval,
    DerivationRetrieval,
    Interventions,
)
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.objective import After
from calque.pretrain.objectives.align_mlm import AlignMLM, RepelMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.rotate_mlm import RotateMLM
from calque.pretrain.objectives.word_aligned import WordAligned

TAGGING = FinetuneConfig(learning_rate=7e-4, head_rate=20, epochs=12, dropout=0.0, freeze_table=True)
"""The embedding table is frozen, because fine-tuning on the source would move source words away from their
counterparts."""
LATE = 0.75
"""The fraction of steps before the rotation. By then, half of the types in the study `causes` are aligned up
to rotation."""


def everyday() -> Study:
    """ALIGN-MLM's comparison on Everyday English."""
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


def everyday_search() -> Study:
    """The base study of the hyperparameter search for `everyday`. It uses a different seed and is tested on
    development sentences."""
    source = everyday_english(types=2_000)
    assert source.pos
    return everyday().changed(
        name="everyday_search",
        source=replace(source, pos=replace(source.pos, test=source.pos.dev)),
        transforms=(Transliterate(),),
        objectives=(MLM(MASKS),),
        seeds=(100,),
        tasks={"pos": CrossLingualTask(TAGGING)},
        measures=(Alignment(),),
        claims=None,
    )


def wikipedia() -> Study:
    """The comparison in `everyday` on easy sentences from Wikipedia, with more types and steps."""
    from calque.experiments.studies.real_text import real_data

    data, stanza, base = real_data("wikipedia", "wikipedia"), os.environ.get("CALQUE_STANZA"), everyday()
    return base.changed(
        name="wikipedia",
        claims=Path(__file__).with_name("wikipedia.claims.toml"),
        source=replace(
            everyday_english(),
            text=(data / "wikipedia" / "wikipedia-1.txt",),
            parser=Path(stanza) if stanza else None,
        ),
        vocabulary=2_000,
        seeds=(0, 1, 2, 3),
        train=replace(base.train, steps=10_000),
    )


def causes() -> Study:
    """Interventions on models trained on Pocket English."""
    return _interventions_on(small_grid(), "causes")


def causes_everyday() -> Study:
    """Interventions on models trained on Everyday English."""
    return _interventions_on(everyday(), "causes_everyday")


def _interventions_on(base: Study, name: str) -> Study:
    """Add interventions on MLM and ALIGN-MLM; each new seed samples its own data and dictionary."""
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
    """Tests of the interventions' conclusions by changes during training: some objectives rotate embeddings
    once or keep translations dissimilar."""
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
