"""The grid of ALIGN-MLM at its own scale."""

import os
from pathlib import Path

from analysis.tasks.finetune import FinetuneConfig
from derive.order import Invert
from derive.reorder import Reorder, TreebankFiles
from derive.script import Transliterate
from derive.sources.files import Files, TaskFiles
from derive.transform import compose
from experiments.languages import DerivedLanguages
from experiments.study import Study
from experiments.tasks import CrossLingualTask
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objectives.align_mlm import AlignMLM
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm import XLM


def align_mlm() -> Study:
    """ALIGN-MLM's own scale (tables 10 and 11): WikiText-103, 500,000 steps; a GPU's work."""
    data, stanza = Path(os.environ.get("CALQUE_DATA") or "data"), os.environ.get("CALQUE_STANZA")
    treebank, panx, xnli = data / "ud" / "UD_English-EWT", data / "ner" / "panx", data / "nli" / "xnli"
    french = TreebankFiles("fr", (data / "ud" / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",))
    english = TreebankFiles("en", (treebank / "en_ewt-ud-train.conllu",))
    return Study(
        name="align_mlm",
        languages=DerivedLanguages(
            source=Files(
                text=(data / "wikitext-103" / "wiki.train.tokens",),
                parser=Path(stanza) if stanza else None,
                pos=TaskFiles(
                    train=(treebank / "en_ewt-ud-train.conllu",),
                    dev=(treebank / "en_ewt-ud-dev.conllu",),
                    test=(treebank / "en_ewt-ud-test.conllu",),
                ),
                ner=TaskFiles(train=(panx / "train-en.tsv",), test=(panx / "dev-en.tsv",)),
                nli=TaskFiles(
                    train=(data / "nli" / "mnli" / "train.jsonl",),
                    dev=(xnli / "dev-en.tsv",),
                    test=(xnli / "test-en.tsv",),
                ),
            ),
            transforms=(
                Transliterate(),
                compose(Transliterate(), Invert()),
                compose(Transliterate(), Reorder(french, english)),
            ),
            vocabulary=40_000,
        ),
        objectives=(MLM(), XLM(), DictMLM(), AlignMLM()),
        model=ModelConfig(),
        train=TrainConfig(),
        tasks={
            name: CrossLingualTask(FinetuneConfig(epochs=epochs))  # Table 11
            for name, epochs in (("pos", 10), ("ner", 10), ("nli", 5))
        },
    )
