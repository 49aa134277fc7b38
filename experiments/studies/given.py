"""Inputs for studies of real text: the data folder, an encoder, treebanks and bitexts."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.errors import BadInput
from calque.derive.files import read_toml
from calque.derive.galactic import Reorder, TreebankFiles
from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import compose
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.study.tasks import CrossLingualTask

PUD = {"fr": "French", "de": "German", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "tr": "Turkish"}
"""The languages, other than English, of the PUD treebanks used, all of which contain the same thousand
sentences."""
DEFAULT = FinetuneConfig()
DATA = "set CALQUE_DATA to the folder that contains its data"
ENCODER = (
    "set CALQUE_ENCODER to a folder with an encoder and its tokenizer, or to its Hub name with a revision, "
    "such as FacebookAI/xlm-roberta-base@ and the 40 digits of a commit (and --set model.* to its sizes)"
)


def real_data(study: str, recipe: str) -> Path:
    """Return the folder named by CALQUE_DATA. Raises BadInput, naming `recipe`, if it is not set."""
    if folder := os.environ.get("CALQUE_DATA"):
        return Path(folder)
    raise BadInput(f"the study {study} reads real data: {_data(recipe)}")


def real_data_and_encoder(study: str, recipe: str) -> tuple[Path, Path]:
    """Return the folder named by CALQUE_DATA and the model named by CALQUE_ENCODER. Raises BadInput if one
    is not set."""
    folder, encoder = os.environ.get("CALQUE_DATA"), os.environ.get("CALQUE_ENCODER")
    if folder and encoder:
        return Path(folder), Path(encoder)
    lacking = [*([] if folder else [_data(recipe)]), *([] if encoder else [f"for the encoder, {ENCODER}"])]
    what = f"the study {study} reads real data and starts from a multilingual encoder"
    raise BadInput([f"{what}: {each}" for each in lacking])


def _data(recipe: str) -> str:
    return f"{DATA}; `calque data fetch {recipe}` fetches the public part of it"


def real_languages(data: Path, vocabulary: int, text: Path, **more: Any) -> DerivedLanguages:
    """Return English text under Trans, Trans + Inv and Trans + Syn in French order, for which CALQUE_STANZA
    names a parser's folder; `more` sets other fields of `Files`."""
    stanza, trees = os.environ.get("CALQUE_STANZA"), data / "ud"
    french = TreebankFiles("fr", (trees / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",))
    order = Reorder(french, TreebankFiles("en", ewt(data).train))
    return DerivedLanguages(
        source=Files(text=(text,), parser=Path(stanza) if stanza else None, **more),
        transforms=(Transliterate(), compose(Transliterate(), Invert()), compose(Transliterate(), order)),
        vocabulary=vocabulary,
    )


def ewt(data: Path, **more: Any) -> TaskFiles:
    """Return the splits of English EWT; `more` sets other fields of `TaskFiles`."""
    folder = data / "ud" / "UD_English-EWT"
    train, dev, test = ((folder / f"en_ewt-ud-{split}.conllu",) for split in ("train", "dev", "test"))
    return TaskFiles(train=train, dev=dev, test=test, **more)


def pud(data: Path, code: str) -> Path:
    """Return the path of a language's PUD treebank."""
    return data / "ud" / f"UD_{PUD.get(code, 'English')}-PUD" / f"{code}_pud-ud-test.conllu"


def tasks_of(table: Path, data: Path, usual: FinetuneConfig = DEFAULT) -> dict[str, CrossLingualTask]:
    """Read tasks from a TOML file that gives their files below the data folder, their languages, and changes
    to the `usual` fine-tuning. In the names of test files, {code} stands for a language's code and {name} for
    its name in these files; of names joined by `or`, the first existing file is used, or else the last."""
    return {name: _task(row, data, usual) for name, row in read_toml(table).items()}


def _task(row: Mapping[str, Any], data: Path, usual: FinetuneConfig) -> CrossLingualTask:
    def files(names: str | list[str], **language: str) -> tuple[Path, ...]:
        copies = [
            name.format(**language).split(" or ") for name in ([names] if isinstance(names, str) else names)
        ]
        return tuple(
            data / next((name for name in each if (data / name).is_file()), each[-1]) for each in copies
        )

    languages = row["languages"]
    if isinstance(languages, str):
        languages = {code: code for code in languages.split()}
    sets: dict[str, Any] = {
        key: {code: files(row[key], code=code, name=name) for code, name in languages.items()}
        for key in ("tests",)
        if key in row
    }
    own: dict[str, Any] = {split: files(row[split]) for split in ("train", "dev", "test") if split in row}
    finetune = replace(usual, **row.get("finetune", {}))
    return CrossLingualTask(finetune, files=TaskFiles(**own, **row.get("files", {})), **sets)


def same_sentences(data: Path) -> dict[str, Path]:
    """Return the PUD treebanks by language, English first."""
    return {code: pud(data, code) for code in ("en", *PUD)}
