"""ALIGN-MLM's comparison on real sentences (studies.toml describes each; docs/everyday.md)."""

from dataclasses import replace

from calque.analysis.tasks.transfer import FinetuneConfig
from calque.derive.order import Invert
from calque.derive.sources.everyday import everyday as everyday_english
from calque.derive.sources.everyday import french_order
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate
from calque.experiments.studies.pocket import MASKS, small_grid
from calque.experiments.study import Study
from calque.experiments.study.measures import PAIR_MEASURES, Alignment, DerivationRetrieval
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.objectives import MLM

TAGGING = FinetuneConfig(learning_rate=7e-4, head_rate=20, epochs=12, dropout=0.0, freeze_table=True)
"""The embedding table is frozen, because fine-tuning on the source would move source words away from their
counterparts."""


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
    """The base of the search for `everyday`'s setting: another seed, tested on development data."""
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
    )


def wikipedia() -> Study:
    """The comparison in `everyday` on easy sentences from Wikipedia, with more types and steps."""
    from calque.experiments.studies.real_text import data, folder_in

    base = everyday()
    return base.changed(
        name="wikipedia",
        source=replace(
            everyday_english(), text=(data("wikipedia/wikipedia-1.txt"),), parser=folder_in("CALQUE_STANZA")
        ),
        vocabulary=2_000,
        seeds=(0, 1, 2, 3),
        train=replace(base.train, steps=10_000),
    )
