"""ALIGN-MLM's experiments at the paper's scale."""

import os
from pathlib import Path

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.galactic import Reorder, TreebankFiles
from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import compose
from calque.experiments.studies.given import ewt
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import XLM


def align_mlm() -> Study:
    """ALIGN-MLM's comparison at the paper's scale (Tables 10 and 11)."""
    data = Path(os.environ.get("CALQUE_DATA") or "data")
    panx, mnli, xnli = data / "ner" / "panx", data / "nli" / "mnli", data / "nli" / "xnli"
    stanza, trees = os.environ.get("CALQUE_STANZA"), ewt(data)
    french = TreebankFiles("fr", (data / "ud" / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",))
    order = Reorder(french, TreebankFiles("en", trees.train))
    return Study(
        name="align_mlm",
        languages=DerivedLanguages(
            source=Files(
                text=(data / "wikitext-103" / "wiki.train.tokens",),
                parser=Path(stanza) if stanza else None,
                pos=trees,
                ner=TaskFiles(train=(panx / "train-en.tsv",), test=(panx / "dev-en.tsv",)),
                nli=TaskFiles(
                    train=(mnli / "train.jsonl",), dev=(xnli / "dev-en.tsv",), test=(xnli / "test-en.tsv",)
                ),
            ),
            transforms=(Transliterate(), compose(Transliterate(), Invert()), compose(Transliterate(), order)),
            vocabulary=40_000,
        ),
        objectives=(MLM(), XLM(), DictMLM(), AlignMLM()),
        tasks={
            name: CrossLingualTask(FinetuneConfig(epochs=epochs))  # Table 11
            for name, epochs in (("pos", 10), ("ner", 10), ("nli", 5))
        },
    )
