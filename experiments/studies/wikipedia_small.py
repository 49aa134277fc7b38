"""Real text and real tasks at the smallest informative scale."""

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.sources.files import TaskFiles
from calque.experiments.studies.given import ewt, real_data, real_languages
from calque.experiments.studies.objectives import OF_ALIGN_MLM
from calque.experiments.study import Study
from calque.experiments.tasks import CrossLingualTask
from calque.pretrain.config import ModelConfig, TrainConfig

TIME = "2 core hours"
NEEDS = "CALQUE_DATA, CALQUE_STANZA"
LINGNLI = tuple(f"round{number}_{protocol}" for number in range(1, 6) for protocol in ("LitL", "LotS", "baseline"))


def wikipedia_small() -> Study:
    """Wikipedia text, UD POS, PAN-X NER and human-written NLI from CALQUE_DATA."""
    data = real_data("wikipedia_small", "wikipedia_small")
    panx, nli = data / "ner" / "panx", data / "nli"
    return Study(
        name="wikipedia_small",
        languages=real_languages(
            data,
            vocabulary=4_000,
            text=data / "wikipedia" / "wikipedia-1.txt",
            megabytes=20,
            pos=ewt(data, limit=6_000),
            ner=TaskFiles(train=(panx / "train-en.tsv",), test=(panx / "dev-en.tsv",), limit=6_000),
            nli=TaskFiles(
                train=tuple(nli / "lingnli" / f"train_{part}.jsonl" for part in LINGNLI),
                dev=(nli / "xnli" / "dev-en.tsv",),
                test=(nli / "mnli" / "mnli_val_matched.jsonl",),
                limit=12_000,
            ),
        ),
        objectives=OF_ALIGN_MLM,
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
