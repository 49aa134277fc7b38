"""Studies of real text, sized for two cores, and their inputs: the data folder, an encoder, treebanks and
bitexts. The studies' questions are in studies.toml."""

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from calque.analysis.aligners.methods import DEFAULT, SOFTMAX
from calque.analysis.measures.word_alignment import SETS
from calque.analysis.tasks.finetune_config import FinetuneConfig
from calque.derive.errors import BadInput
from calque.derive.files import read_toml
from calque.derive.languages import NamePair
from calque.derive.natural import BitextFiles, TextFiles
from calque.derive.sources.files import TaskFiles
from calque.experiments.studies.pocket import MASKS, small_grid
from calque.experiments.study import Study
from calque.experiments.study.gold import EncoderLinks, GoldLinks, GoldPairs
from calque.experiments.study.measures import Retrieval
from calque.experiments.study.natural import LENGTH, RECIPE, NaturalLanguages
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ALL_TOGETHER, Mixture, ModelConfig, TrainConfig
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.pairs import PPA, WEAM, XLM
from calque.pretrain.objectives.word_alignment import AlignerTraining, XLMAlign

PUD = {"fr": "French", "de": "German", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "tr": "Turkish"}
"""The languages, other than English, whose PUD treebanks are used. All contain the same thousand
sentences."""
ENCODER = "set CALQUE_ENCODER to a folder with an encoder and its tokenizer, and --set model.* to its sizes"
USUAL = FinetuneConfig(
    learning_rate=1e-4,
    head_rate=10,
    epochs=2,
    batch=16,
    warmup=0.1,
    freeze_table=True,
    attention_dropout=0.0,  # attention is three times as fast without dropout
)
SMALL = ModelConfig(layers=12, heads=12, hidden=384, ffn=1536, length=64, dropout=0.0)
XLM_R = TrainConfig(weight_decay=0.01, betas=(0.9, 0.98), epsilon=1e-6, decayed="matrices", probe_every=0)
"""XLM-Align's optimiser (Table 11), without probes."""


def real_data(study: str) -> Path:
    """Return the folder that CALQUE_DATA is set to. Raises BadInput if it is not set."""
    if folder := os.environ.get("CALQUE_DATA"):
        return Path(folder)
    fetch = f"`calque plan {study}` then prints the command that downloads the data"
    raise BadInput(f"the study {study} reads real data: set CALQUE_DATA to the data folder; {fetch}")


def encoder_of(study: str) -> Path:
    """Return the model in the folder that CALQUE_ENCODER is set to. Raises BadInput if it is not set."""
    if encoder := os.environ.get("CALQUE_ENCODER"):
        return Path(encoder)
    raise BadInput(f"the study {study} starts from a multilingual encoder: {ENCODER}")


def ewt(data: Path, **more: Any) -> TaskFiles:
    """Return the splits of English EWT; `more` sets other fields of `TaskFiles`."""
    folder = data / "ud" / "UD_English-EWT"
    train, dev, test = ((folder / f"en_ewt-ud-{split}.conllu",) for split in ("train", "dev", "test"))
    return TaskFiles(train=train, dev=dev, test=test, **more)


def captions(data: Path, first: str, second: str) -> BitextFiles:
    """Return Multi30k's captions in two languages."""
    folder = data / "parallel" / "multi30k"
    return BitextFiles(folder / f"train.{first}", folder / f"train.{second}")


def _task(row: Mapping[str, Any], data: Path) -> CrossLingualTask:
    """Read a task from a table of xtreme_small.toml: its files below the data folder, its languages, and
    changes to the USUAL fine-tuning. In the names of test files, {code} is replaced by a language's code, and
    {name} by its name in those files. If names are joined by `or`, the first file that exists is used, or
    the last if none exists."""

    def files(names: str | list[str], **language: str) -> tuple[Path, ...]:
        selected = []
        for name in [names] if isinstance(names, str) else names:
            paths = [data / copy for copy in name.format(**language).split(" or ")]
            selected.append(next(filter(Path.is_file, paths), paths[-1]))
        return tuple(selected)

    languages = row["languages"]
    if isinstance(languages, str):
        languages = {code: code for code in languages.split()}
    tests = {code: files(row["tests"], code=code, name=name) for code, name in languages.items()}
    split_files: dict[str, Any] = {
        split: files(row[split]) for split in ("train", "dev", "test") if split in row
    }
    finetune = replace(USUAL, **row.get("finetune", {}))
    return CrossLingualTask(finetune, TaskFiles(**split_files, **row.get("files", {})), tests)


def same_sentences(data: Path) -> dict[str, Path]:
    """Return PUD's treebanks, whose sentences are translations of each other, by language."""
    return {
        code: data / "ud" / f"UD_{name}-PUD" / f"{code}_pud-ud-test.conllu"
        for code, name in {"en": "English", **PUD}.items()
    }


def xlm_align_small() -> Study:
    """MLM + TLM with and without denoising word alignment, starting from the encoder in CALQUE_ENCODER."""
    data, encoder = real_data("xlm_align_small"), encoder_of("xlm_align_small")
    finetune = replace(USUAL, epochs=1, attention_dropout=FinetuneConfig().attention_dropout)
    train = replace(
        XLM_R, steps=500, batch=24, learning_rate=3e-5, head_rate=20, warmup=50, log_every=20, save_every=100
    )
    return Study(
        name="xlm_align_small",
        paper="xtreme",
        measure_start=True,
        start=encoder,
        languages=NaturalLanguages(texts=texts(data), bitexts=bitexts(data), withheld=withheld(data)),
        objectives=(XLMAlign(queries="none", pieces=3), XLMAlign(pieces=3)),
        measures=(GoldLinks(data / "align"), Retrieval(same_sentences(data))),
        tasks=tagging(data, finetune, limit=2_000),
        model=SMALL,
        train=train,
        head=TrainConfig(
            steps=200, batch=24, learning_rate=1e-3, warmup=10, log_every=20, probe_every=0, save_every=0
        ),
        mixture=Mixture(exponent=0.7, bitext_exponent=0.7, pairs=0.5),
    )


def texts(data: Path) -> dict[str, TextFiles]:
    """Return text in English and in the languages of the PUD treebanks, Spanish and Chinese."""
    trees, panx = data / "ud", data / "ner" / "panx"
    treebanks = {
        "fr": (trees / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",),
        "ko": (trees / "UD_Korean-GSD" / "ko_gsd-ud-train.conllu",),
    }
    text_files = {"en": TextFiles((data / "wikipedia" / "wikipedia-1.txt",), megabytes=20)}
    for language in (*PUD, "es", "zh"):
        text_files[language] = TextFiles((panx / f"train-{language}.tsv", *treebanks.get(language, ())))
    return text_files


def bitexts(data: Path) -> dict[NamePair, tuple[BitextFiles, ...]]:
    """Return the bitexts of English with French and German."""
    manythings = data / "parallel" / "manythings"
    return {
        ("en", "fr"): (BitextFiles(manythings / "fra-eng.tsv"), captions(data, "en", "fr")),
        ("en", "de"): (BitextFiles(manythings / "deu-eng.tsv"), captions(data, "en", "de")),
    }


def tagging(data: Path, finetune: FinetuneConfig, limit: int = 0) -> dict[str, CrossLingualTask]:
    """Return POS tagging, learnt from `limit` English trees (0: all) and tested on the PUD treebanks."""
    treebanks = same_sentences(data)
    tests = {language: (treebanks[language],) for language in PUD}
    return {"pos": CrossLingualTask(finetune, files=ewt(data, limit=limit), tests=tests)}


def withheld(data: Path) -> TextFiles:
    """Return the test sentences that training text must not contain."""
    gold = [data / "align" / name / f"test.{side}" for name in SETS for side in name.split("-")]
    return TextFiles((*gold, *same_sentences(data).values(), *ewt(data).test))


def aligner() -> Study:
    """Aligner training with three sources of labels, starting from the encoder in CALQUE_ENCODER."""
    small, data = xlm_align_small(), real_data("aligner")
    captions = data / "parallel" / "multi30k"
    return small.changed(
        name="aligner",
        texts={name: TextFiles((captions / f"train.{name}",)) for name in ("en", "fr", "de")},
        bitexts={
            pair: tuple(replace(files, words_in=pair, fewest=6) for files in parts)
            for pair, parts in bitexts(data).items()
        },
        objectives=(AlignerTraining(), AlignerTraining(labels="estimated"), AlignerTraining(labels="self")),
        seeds=(0, 1, 2),
        measures=(GoldLinks(data / "align", methods=(DEFAULT.name, SOFTMAX.name)),),
        tasks={},
        model=replace(small.model, length=LENGTH),
        train=RECIPE,
        head=None,
        mixture=ALL_TOGETHER,
    )


def word_alignment() -> Study:
    """fast_align and small encoders on four gold sets."""
    data, encoder = real_data("word_alignment"), os.environ.get("CALQUE_ENCODER")
    manythings = data / "parallel" / "manythings"
    return Study(
        name="word_alignment",
        paper="links",
        languages=GoldPairs(
            gold=data / "align",
            text={
                "de-en": (
                    BitextFiles(manythings / "deu-eng.tsv", columns=(1, 0)),
                    captions(data, "de", "en"),
                ),
                "en-fr": (BitextFiles(manythings / "fra-eng.tsv"), captions(data, "en", "fr")),
            },
            vocabulary=4_000,
        ),
        measures=(EncoderLinks(),),
        objectives=(MLM(MASKS), XLM(1.0, MASKS), XLMAlign(parallel_fraction=1.0, mask_rate=MASKS)),
        encoder=Path(encoder) if encoder else None,
        model=replace(small_grid().model, length=96),
        train=TrainConfig(
            steps=1_200,
            batch=24,
            learning_rate=4e-3,
            warmup=200,
            log_every=100,
            probe_every=0,
            save_every=400,
        ),
    )


def xtreme_small() -> Study:
    """XTREME's tasks, learnt in English and tested in up to 15 languages."""
    data, encoder = real_data("xtreme_small"), encoder_of("xtreme_small")
    table = read_toml(Path(__file__).with_name("xtreme_small.toml"))
    tasks = {name: _task(row, data) for name, row in table.items()}
    return Study(
        name="xtreme_small",
        paper="xtreme",
        measure_start=True,
        languages=NaturalLanguages(),
        start=encoder,
        tasks={**tasks, "tydiqa": _tydiqa(tasks["tydiqa"], data / "qa" / "tydiqa-goldp")},
        seeds=(0, 1, 2),
        measures=(Retrieval(same_sentences(data)),),
        model=SMALL,
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
    data, small, pretrained = real_data("xtreme_continued"), xtreme_small(), xlm_align_small()
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
