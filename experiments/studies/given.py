"""What studies of real text are given: the data folder, an encoder, and treebanks that several of them read."""

import os
from pathlib import Path
from typing import Any

from derive.errors import BadInput
from derive.order import Invert
from derive.reorder import Reorder, TreebankFiles
from derive.script import Transliterate
from derive.sources.files import Files, TaskFiles
from derive.transform import compose
from experiments.languages import DerivedLanguages

PUD = {"fr": "French", "de": "German", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "tr": "Turkish"}
"""The languages beside English of which there is a treebank of the same thousand sentences."""
DATA = "set CALQUE_DATA to the folder that holds its data"
ENCODER = (
    "set CALQUE_ENCODER to the folder of one with its tokenizer, or to its name on the hub with a revision, such as "
    "FacebookAI/xlm-roberta-base@ and the 40 digits of a commit (and --set model.* to its shape)"
)


def real_data(study: str, recipe: str) -> Path:
    """The folder that CALQUE_DATA names; `recipe` fetches what the study reads."""
    if folder := os.environ.get("CALQUE_DATA"):
        return Path(folder)
    raise BadInput(f"the study {study} reads real data: {_data(recipe)}")


def real_data_and_encoder(study: str, recipe: str) -> tuple[Path, Path]:
    """The folder that CALQUE_DATA names, and the model that CALQUE_ENCODER does."""
    folder, encoder = os.environ.get("CALQUE_DATA"), os.environ.get("CALQUE_ENCODER")
    if folder and encoder:
        return Path(folder), Path(encoder)
    lacking = [*([] if folder else [_data(recipe)]), *([] if encoder else [f"for the encoder, {ENCODER}"])]
    raise BadInput(f"the study {study} reads real data and begins with a multilingual encoder: {'; '.join(lacking)}")


def _data(recipe: str) -> str:
    return f"{DATA}; `calque data fetch {recipe}` gets what can be fetched of it"


def real_languages(data: Path, vocabulary: int, text: Path, **more: Any) -> DerivedLanguages:
    """Real English text under Trans, Trans + Inv and Trans + Syn in French order; `more` are other values of `Files`.

    CALQUE_STANZA names the folder of a parser, which Trans + Syn needs.
    """
    stanza, trees = os.environ.get("CALQUE_STANZA"), data / "ud"
    french = TreebankFiles("fr", (trees / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",))
    order = Reorder(french, TreebankFiles("en", ewt(data).train))
    return DerivedLanguages(
        source=Files(text=(text,), parser=Path(stanza) if stanza else None, **more),
        transforms=(Transliterate(), compose(Transliterate(), Invert()), compose(Transliterate(), order)),
        vocabulary=vocabulary,
    )


def ewt(data: Path, **more: Any) -> TaskFiles:
    """English EWT as it is split; `more` are other values of `TaskFiles`."""
    folder = data / "ud" / "UD_English-EWT"
    train, dev, test = ((folder / f"en_ewt-ud-{split}.conllu",) for split in ("train", "dev", "test"))
    return TaskFiles(train=train, dev=dev, test=test, **more)


def pud(data: Path, code: str) -> Path:
    """A language's treebank of the same thousand sentences."""
    return data / "ud" / f"UD_{PUD.get(code, 'English')}-PUD" / f"{code}_pud-ud-test.conllu"


def either(*copies: Path) -> Path:
    """The first of a file's copies, which may have other names, that is there; without any the last, a recipe's."""
    return next((path for path in copies if path.is_file()), copies[-1])


def same_sentences(data: Path) -> dict[str, Path]:
    """The treebanks of the same thousand sentences by language, English first."""
    return {code: pud(data, code) for code in ("en", *PUD)}
