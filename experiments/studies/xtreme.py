"""XTREME's tasks at their papers' scale: whole training sets, the recipes' languages, XLM-Align's grid of settings."""

import os
from pathlib import Path

from analysis.tasks.finetune import FinetuneConfig
from derive.readers.conllu import XTREME
from derive.sources.files import TaskFiles
from experiments.languages import NaturalLanguages
from experiments.studies.given import PUD, ewt, pud
from experiments.studies.xtreme_small import XNLI
from experiments.study import Study
from experiments.tasks import CrossLingualTask
from pretrain.config import ModelConfig

PANX = (
    *("af", "ar", "bg", "bn", "de", "el", "es", "et", "eu", "fa", "fi", "fr", "he", "hi", "hu", "id", "it", "ja"),
    *("jv", "ka", "kk", "ko", "ml", "mr", "ms", "my", "nl", "pt", "ru", "sw", "ta", "te", "th", "tl", "tr", "ur"),
    *("vi", "yo", "zh"),
)
PAWS = ("de", "es", "fr", "ja", "ko", "zh")
XQUAD = ("ar", "de", "el", "es", "hi", "ru", "th", "tr", "vi", "zh")
MLQA = ("ar", "de", "es", "hi", "vi", "zh")
TYDIQA = {
    "ar": "arabic",
    "bn": "bengali",
    "fi": "finnish",
    "id": "indonesian",
    "ko": "korean",
    "ru": "russian",
    "sw": "swahili",
    "te": "telugu",
}
WARMUP = 0.1


def xtreme() -> Study:
    """XTREME's seven tasks with the settings of XLM-Align's Table 12, from XLM-R base or another encoder; for cards."""
    data = Path(os.environ.get("CALQUE_DATA") or "data")
    encoder = os.environ.get("CALQUE_ENCODER")
    return Study(
        name="xtreme",
        paper="xtreme",
        languages=NaturalLanguages(types=250_002),
        start=Path(encoder) if encoder else data / "models" / "xlm-roberta-base",
        tasks=tasks_in(data),
        seeds=(0, 1, 2),
        measures=(),
        model=ModelConfig(layers=12, heads=12, hidden=768, ffn=3072, length=512),
    )


def tasks_in(data: Path) -> dict[str, CrossLingualTask]:
    """The seven tasks, of the files that the recipe `xtreme` fetches, with the grid that XLM-Align searched.

    Treebanks are those of the recipe, of seven languages; the paper's are of 33.
    """
    panx, nli, qa = data / "ner" / "panx", data / "nli", data / "qa"
    xnli, paws, mlqa, tydiqa = nli / "xnli", nli / "pawsx", qa / "mlqa", qa / "tydiqa-goldp"
    squad, squad_dev = (qa / "squad" / "train-v1.1.json",), (qa / "squad" / "dev-v1.1.json",)
    spans = FinetuneConfig(batch=32, epochs=4, max_length=384, warmup=WARMUP)

    def asked(split: str, language: str) -> tuple[Path, ...]:
        return (mlqa / f"{split}-context-{language}-question-{language}.json",)

    return {
        "pos": CrossLingualTask(
            files=ewt(data, units=XTREME),
            tests={code: (pud(data, code),) for code in PUD},
            finetune=FinetuneConfig(epochs=10, warmup=WARMUP),
            learning_rates=(1e-5, 2e-5, 3e-5),
            batches=(8, 16, 32),
        ),
        "ner": CrossLingualTask(
            files=TaskFiles(train=(panx / "train-en.tsv",), dev=(panx / "dev-en.tsv",), test=(panx / "test-en.tsv",)),
            tests={code: (panx / f"test-{code}.tsv",) for code in PANX},
            finetune=FinetuneConfig(batch=8, epochs=10, warmup=WARMUP),
            devs={code: (panx / f"dev-{code}.tsv",) for code in PANX},
            learning_rates=(5e-6, 6e-6, 7e-6, 8e-6, 9e-6),
        ),
        "xquad": CrossLingualTask(
            files=TaskFiles(train=squad, dev=squad_dev, test=(qa / "xquad" / "xquad.en.json",)),
            tests={code: (qa / "xquad" / f"xquad.{code}.json",) for code in XQUAD},
            finetune=spans,
            learning_rates=(2e-5, 3e-5, 4e-5),
        ),
        "mlqa": CrossLingualTask(
            files=TaskFiles(train=squad, dev=asked("dev", "en"), test=asked("test", "en")),
            tests={code: asked("test", code) for code in MLQA},
            finetune=spans,
            devs={code: asked("dev", code) for code in MLQA},
            learning_rates=(2e-5, 3e-5, 4e-5),
            epochs=(2, 3, 4),
        ),
        "tydiqa": CrossLingualTask(
            files=TaskFiles(
                train=(tydiqa / "tydiqa-goldp-v1.1-train.json",),
                test=(tydiqa / "tydiqa-goldp-dev-english.json",),
                held_out=300,  # its dev files are the test
                trained_id="english",
            ),
            tests={code: (tydiqa / f"tydiqa-goldp-dev-{name}.json",) for code, name in TYDIQA.items()},
            finetune=spans,
            learning_rates=(2e-5, 3e-5),
            epochs=(5, 10, 15, 20),
        ),
        "nli": CrossLingualTask(
            files=TaskFiles(
                train=(nli / "mnli" / "train.jsonl",), dev=(xnli / "dev-en.tsv",), test=(xnli / "test-en.tsv",)
            ),
            tests={code: (xnli / f"test-{code}.tsv",) for code in XNLI},
            finetune=FinetuneConfig(batch=32, epochs=10, warmup=WARMUP),
            devs={code: (xnli / f"dev-{code}.tsv",) for code in XNLI},
            learning_rates=(5e-6, 6e-6, 7e-6, 8e-6),
        ),
        "paraphrase": CrossLingualTask(
            files=TaskFiles(train=(paws / "train-en.tsv",), dev=(paws / "dev-en.tsv",), test=(paws / "test-en.tsv",)),
            tests={code: (paws / f"test-{code}.tsv",) for code in PAWS},
            finetune=FinetuneConfig(batch=32, epochs=10, warmup=WARMUP),
            devs={code: (paws / f"dev-{code}.tsv",) for code in PAWS},
            learning_rates=(1e-5, 2e-5),
        ),
    }
