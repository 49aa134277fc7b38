"""XTREME's tasks from a pretrained multilingual encoder, sized for two cores, before and after further
pretraining."""

from dataclasses import replace
from itertools import chain
from pathlib import Path

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.natural.files import TextFiles
from calque.experiments.studies.given import ewt, real_data_and_encoder, same_sentences, tasks_of
from calque.experiments.studies.xlm_align_small import bitexts, texts, xlm_align_small
from calque.experiments.study import Study
from calque.experiments.study.languages import NaturalLanguages
from calque.experiments.study.measures import Retrieval
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ModelConfig
from calque.pretrain.objectives.ppa import PPA
from calque.pretrain.objectives.weam import WEAM
from calque.pretrain.objectives.xlm_align import XLMAlign

USUAL = FinetuneConfig(
    learning_rate=1e-4,
    head_rate=10,
    epochs=2,
    batch=16,
    warmup=0.1,
    freeze_table=True,
    attention_dropout=0.0,  # attention is three times as fast without dropout
)


def xtreme_small() -> Study:
    """XTREME's tasks, learnt in English and tested in up to 15 languages."""
    data, encoder = real_data_and_encoder("xtreme_small", "xtreme")
    tasks = tasks_of(Path(__file__).with_suffix(".toml"), data, USUAL)
    return Study(
        name="xtreme_small",
        paper="xtreme",
        measure_start=True,
        languages=NaturalLanguages(),
        start=encoder,
        tasks={**tasks, "tydiqa": _tydiqa(tasks["tydiqa"], data / "qa" / "tydiqa-goldp")},
        seeds=(0, 1, 2),
        measures=(Retrieval(same_sentences(data)),),
        model=ModelConfig(layers=12, heads=12, hidden=384, ffn=1536, length=64, dropout=0.0),
    )


def _tydiqa(task: CrossLingualTask, folder: Path) -> CrossLingualTask:
    assert task.files
    if task.files.train[0].is_file():
        return task
    train, swahili = folder / "tydiqa-goldp-v1.1-train.json", folder / "tydiqa-goldp-dev-swahili.json"
    files = replace(task.files, train=(train,), numbered=False, trained_id="english")
    return replace(task, files=files, tests={"sw": (swahili,)})


def xtreme_continued() -> Study:
    """`xtreme_small` after 100 further steps of XLM-Align, WEAM or PPA."""
    data, _ = real_data_and_encoder("xtreme_continued", "xtreme")
    small, pretrained = xtreme_small(), xlm_align_small()
    entities = data / "ner" / "panx" / "dev-en.tsv", *chain.from_iterable(small.tasks["ner"].tests.values())
    trees = (*same_sentences(data).values(), *ewt(data).test)
    return small.changed(
        name="xtreme_continued",
        texts=texts(data),
        bitexts=bitexts(data),
        withheld=TextFiles((*trees, *entities)),
        objectives=(XLMAlign(pieces=3), WEAM(), PPA(queue=2_048, momentum=0.99)),
        train=replace(pretrained.train, steps=100),
        head=pretrained.head,
        mixture=pretrained.mixture,
    )
