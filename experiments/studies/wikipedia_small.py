"""Real text and real tasks at the smallest scale that says anything."""

import os
from pathlib import Path

from analysis.tasks.finetune import FinetuneConfig
from derive.order import Invert
from derive.reorder import Reorder, TreebankFiles
from derive.script import Transliterate
from derive.sources.files import Files, TaskFiles
from derive.transform import compose
from experiments.languages import DerivedLanguages
from experiments.studies.given import ewt, real_data
from experiments.studies.objectives import MASKS
from experiments.study import Study
from experiments.tasks import CrossLingualTask
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objectives.align_mlm import AlignMLM
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm import XLM

LINGNLI = tuple(f"round{number}_{protocol}" for number in range(1, 6) for protocol in ("LitL", "LotS", "baseline"))


def wikipedia_small() -> Study:
    """Wikipedia text, UD POS, PAN-X NER and human-written NLI from CALQUE_DATA: two core hours, parsing included.

    Trans+Syn needs trees: CALQUE_STANZA names a folder of Stanza models for English.
    """
    data, stanza = real_data("wikipedia_small", "wikipedia_small"), os.environ.get("CALQUE_STANZA")
    trees, panx, nli = ewt(data, limit=6_000), data / "ner" / "panx", data / "nli"
    french = TreebankFiles("fr", (data / "ud" / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",))
    english = TreebankFiles("en", trees.train)
    return Study(
        name="wikipedia_small",
        languages=DerivedLanguages(
            source=Files(
                text=(data / "wikipedia" / "wikipedia-1.txt",),
                megabytes=20,
                parser=Path(stanza) if stanza else None,
                pos=trees,
                ner=TaskFiles(train=(panx / "train-en.tsv",), test=(panx / "dev-en.tsv",), limit=6_000),
                nli=TaskFiles(
                    train=tuple(nli / "lingnli" / f"train_{part}.jsonl" for part in LINGNLI),
                    dev=(nli / "xnli" / "dev-en.tsv",),
                    test=(nli / "mnli" / "mnli_val_matched.jsonl",),
                    limit=12_000,
                ),
            ),
            transforms=(
                Transliterate(),
                compose(Transliterate(), Invert()),
                compose(Transliterate(), Reorder(french, english)),
            ),
            vocabulary=4_000,
        ),
        objectives=(MLM(MASKS), XLM(mask_rate=MASKS), DictMLM(mask_rate=MASKS), AlignMLM(mask_rate=MASKS)),
        model=ModelConfig(layers=2, heads=4, hidden=48, ffn=192, length=32, dropout=0.0, initializer_range=0.1),
        train=TrainConfig(
            steps=4_000, batch=64, learning_rate=4e-3, warmup=200, log_every=100, probe_every=500, save_every=1_000
        ),
        tasks={
            "pos": CrossLingualTask(FinetuneConfig(learning_rate=5e-4, head_rate=20, epochs=4, dropout=0.0)),
            "ner": CrossLingualTask(FinetuneConfig(learning_rate=5e-4, head_rate=20, epochs=6, dropout=0.0)),
            "nli": CrossLingualTask(FinetuneConfig(learning_rate=1e-3, head_rate=2, epochs=4, batch=64, dropout=0.0)),
        },
    )
