"""Studies of Pocket English, the built-in corpus."""

from dataclasses import replace

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.galactic import PocketTreebank, Reorder
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import compose
from calque.experiments.lessons import MODELS
from calque.experiments.studies.objectives import MASKS, OF_ALIGN_MLM
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.study.measures import Alignment
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM

ROMANCE = Reorder(PocketTreebank("romance"), PocketTreebank("english"))
"""The counterpart of ALIGN-MLM's French order: adjectives follow their nouns, and the verb comes between
subject and object."""

SOURCE = PocketEnglish(
    language=Pocket(types=300),
    size=40_000,
    pos=Sizes(train=2_000, dev=300, test=1_000),
    ner=Sizes(train=2_000, dev=300, test=1_000),
    nli=Sizes(train=8_000, dev=300, test=2_000),
)


def small_grid() -> Study:
    """The base for studies of Pocket English: four objectives on three languages, sized for two cores."""
    return Study(
        name="small_grid",
        languages=DerivedLanguages(
            source=SOURCE,
            transforms=(
                Transliterate(),
                compose(Transliterate(), Invert()),
                compose(Transliterate(), ROMANCE),
            ),
            vocabulary=800,
        ),
        objectives=OF_ALIGN_MLM,
        model=ModelConfig(
            layers=2, heads=4, hidden=64, ffn=256, length=32, dropout=0.0, initializer_range=0.1
        ),
        train=TrainConfig(
            steps=3_500,
            batch=64,
            learning_rate=6e-3,
            warmup=200,
            weight_decay=0.2,
            betas=(0.9, 0.98),
            log_every=100,
            probe_every=250,
            save_every=1_000,
        ),
        tasks={
            "pos": CrossLingualTask(FinetuneConfig(learning_rate=5e-4, head_rate=20, epochs=4, dropout=0.0)),
            "ner": CrossLingualTask(FinetuneConfig(learning_rate=5e-4, head_rate=20, epochs=6, dropout=0.0)),
            "nli": CrossLingualTask(
                FinetuneConfig(learning_rate=2e-3, head_rate=2, epochs=6, batch=64, dropout=0.0)
            ),
        },
    )


def pocket() -> Study:
    """MLM and ALIGN-MLM on reversed generated text."""
    small = small_grid()
    # The smallest number of steps tried that decides a claim; 3,500 steps take 15 to 24 minutes.
    return small.changed(
        name="pocket",
        transforms=(compose(Transliterate(), Invert()),),
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        train=replace(small.train, steps=2_000),
        tasks={name: small.tasks[name] for name in ("pos", "ner")},
        seeds=(0, 1, 2, 3),
    )


def lesson() -> Study:
    """The pocket study with pretrained models, which a class fine-tunes and measures in two minutes."""
    study = pocket()
    return study.changed(
        name="lesson",
        source=replace(SOURCE, pos=Sizes(train=1_000, dev=300, test=1_000)),
        train=small_grid().train,
        tasks={"pos": study.tasks["pos"]},
        measures=(Alignment(),),
        shipped=MODELS,
    )


def align_mlm_pocket() -> Study:
    """ALIGN-MLM's Table 3 on Pocket English."""
    small = small_grid()
    # With fewer updates, accuracy stays at two thirds in most trials, even on training data; with these, it
    # rose in both trials.
    slowly = replace(small.tasks["nli"].finetune, learning_rate=1e-3, head_rate=1, epochs=16, batch=32)
    return small.changed(
        name="align_mlm_pocket",
        source=replace(SOURCE, nli=Sizes(train=25_000, dev=300, test=2_000)),
        seeds=(0, 1, 2, 3, 4),
        train=replace(small.train, steps=5_000),
        tasks={**small.tasks, "nli": CrossLingualTask(slowly)},
    )
