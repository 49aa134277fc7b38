"""Inputs for studies of real text: the data folder, an encoder, treebanks and bitexts."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.errors import BadInput
from calque.derive.files import read_toml
from calque.derive.natural.files import BitextFiles
from calque.derive.sources.files import TaskFiles
from calque.experiments.study.tasks import CrossLingualTask

PUD = {"fr": "French", "de": "German", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "tr": "Turkish"}
"""The languages, other than English, whose PUD treebanks are used. All contain the same thousand
sentences."""
DEFAULT = FinetuneConfig()
ENCODER = (
    "set CALQUE_ENCODER to a folder with an encoder and its tokenizer, or to its Hub name and a commit, as "
    "in FacebookAI/xlm-roberta-base@COMMIT, and --set model.* to its sizes"
)


def real_data(study: str, recipe: str) -> Path:
    """Return the folder named by CALQUE_DATA. Raises BadInput, naming `recipe`, if it is not set."""
    if folder := os.environ.get("CALQUE_DATA"):
        return Path(folder)
    raise BadInput(_data(study, recipe))


def real_data_and_encoder(study: str, recipe: str) -> tuple[Path, Path]:
    """Return the folder named by CALQUE_DATA and the model named by CALQUE_ENCODER. Raises BadInput if one
    is not set."""
    folder, encoder = os.environ.get("CALQUE_DATA"), os.environ.get("CALQUE_ENCODER")
    if folder and encoder:
        return Path(folder), Path(encoder)
    lacking = [] if folder else [_data(study, recipe)]
    lacking += [] if encoder else [f"the study {study} starts from a multilingual encoder: {ENCODER}"]
    raise BadInput(lacking)


def _data(study: str, recipe: str) -> str:
    fetch = f"`calque data fetch {recipe}` downloads public data"
    return f"the study {study} reads real data: set CALQUE_DATA to the data folder; {fetch}"


def ewt(data: Path, **more: Any) -> TaskFiles:
    """Return the splits of English EWT; `more` sets other fields of `TaskFiles`."""
    folder = data / "ud" / "UD_English-EWT"
    train, dev, test = ((folder / f"en_ewt-ud-{split}.conllu",) for split in ("train", "dev", "test"))
    return TaskFiles(train=train, dev=dev, test=test, **more)


def captions(data: Path, first: str, second: str) -> BitextFiles:
    """Return Multi30k's captions in two of the languages en, fr and de."""
    folder = data / "parallel" / "multi30k"
    return BitextFiles(folder / f"train.{first}", folder / f"train.{second}")


def tasks_of(table: Path, data: Path, usual: FinetuneConfig = DEFAULT) -> dict[str, CrossLingualTask]:
    """Read tasks from a TOML file that gives their files below the data folder, their languages, and changes
    to the `usual` fine-tuning. In the names of test files, {code} represents a language's code and {name}
    its name in these files; if names are joined by `or`, the first existing file is used or, if none exists,
    the last."""
    return {name: _task(row, data, usual) for name, row in read_toml(table).items()}


def _task(row: Mapping[str, Any], data: Path, usual: FinetuneConfig) -> CrossLingualTask:
    def files(names: str | list[str], **language: str) -> tuple[Path, ...]:
        found = []
        for name in [names] if isinstance(names, str) else names:
            paths = [data / copy for copy in name.format(**language).split(" or ")]
            found.append(next(filter(Path.is_file, paths), paths[-1]))
        return tuple(found)

    languages = row["languages"]
    if isinstance(languages, str):
        languages = {code: code for code in languages.split()}
    tests = {code: files(row["tests"], code=code, name=name) for code, name in languages.items()}
    own: dict[str, Any] = {split: files(row[split]) for split in ("train", "dev", "test") if split in row}
    finetune = replace(usual, **row.get("finetune", {}))
    return CrossLingualTask(finetune, TaskFiles(**own, **row.get("files", {})), tests)


def same_sentences(data: Path) -> dict[str, Path]:
    """Return the PUD treebanks by language, English first."""
    return {
        code: data / "ud" / f"UD_{name}-PUD" / f"{code}_pud-ud-test.conllu"
        for code, name in {"en": "English", **PUD}.items()
    }
