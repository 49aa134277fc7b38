"""ALIGN-MLM's experiments at the paper's scale."""

import os
from pathlib import Path

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.sources.files import TaskFiles
from calque.experiments.studies.given import ewt, real_languages
from calque.experiments.study import Study
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import XLM


def align_mlm() -> Study:
    """ALIGN-MLM's comparison at the paper's scale (Tables 10 and 11)."""
    data = Path(os.environ.get("CALQUE_DATA") or "data")
    panx, mnli, xnli = data / "ner" / "panx", data / "nli" / "mnli", data / "nli" / "xnli"
    return Study(
        name="align_mlm",
        languages=real_languages(
            data,
            vocabulary=40_000,
            text=data / "wikitext-103" / "wiki.train.tokens",
            pos=ewt(data),
            ner=TaskFiles(train=(panx / "train-en.tsv",), test=(panx / "dev-en.tsv",)),
            nli=TaskFiles(
                train=(mnli / "train.jsonl",), dev=(xnli / "dev-en.tsv",), test=(xnli / "test-en.tsv",)
            ),
        ),
        objectives=(MLM(), XLM(), DictMLM(), AlignMLM()),
        tasks={
            name: CrossLingualTask(FinetuneConfig(epochs=epochs))  # Table 11
            for name, epochs in (("pos", 10), ("ner", 10), ("nli", 5))
        },
    )
