"""The tokenizer beside a model's weights: transformers' AutoTokenizer reads the ids that the model learnt."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from derive.errors import BadInput
from derive.files import sha256
from derive.languages import Languages
from derive.script import derived_tokenizer
from derive.types import Specials
from derive.vocabulary import ROLES
from pretrain.saved_model import load_tokenizer

TOKENIZER, CONFIG, TOKENIZERS = "tokenizer.json", "tokenizer_config.json", "tokenizers"


def write_tokenizers(languages: Languages, folder: Path, length: int) -> None:
    """Write the source's tokenizer to a checkpoint's folder, and that of each other language below `tokenizers/`.

    The other languages' reads text as it is spelt, gives the ids that the model learnt for it, and prints them as that
    text. There is none of a language whose spelling is more than an exchange of letters.
    """
    write_tokenizer(languages.tokenizer, folder, languages.specials, length)
    state = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    for name in languages.others:
        letters, table = languages.letters(name), languages[name].table
        if letters is None:
            continue
        own = folder / TOKENIZERS / name
        own.mkdir(parents=True)
        for file in (TOKENIZER, CONFIG):
            shutil.copy(folder / file, own / file)
        if letters or (table != np.arange(len(table))).any():
            derived = json.dumps(derived_tokenizer(state, table, letters), indent=2, ensure_ascii=False)
            (own / TOKENIZER).write_text(derived + "\n", encoding="utf-8", newline="\n")


def write_tokenizer(tokenizer: Path, folder: Path, specials: Specials, length: int) -> None:
    """Copy a vocabulary's tokenizer, and say what transformers must know: its class and special types.

    Without that, transformers would make RoBERTa's own tokenizer of the same file, which cuts words another way. One
    that puts nothing around a text is told to, for so the model's rows begin and end. `length` is how many ids a row of
    the model may have.
    """
    made = Tokenizer.from_str(
        tokenizer.read_text(encoding="utf-8")
    )  # the errors of `from_file` and `save` name nothing
    start, pad, end, unknown, mask = (
        made.id_to_token(i) for i in (specials.start, specials.pad, specials.end, specials.unknown, specials.mask)
    )
    if made.post_processor is None:
        made.post_processor = TemplateProcessing(
            single=f"{start} $A {end}",
            pair=f"{start} $A {end} {end} $B {end}",
            special_tokens=[(start, specials.start), (end, specials.end)],
        )
        (folder / TOKENIZER).write_text(made.to_str(pretty=True), encoding="utf-8", newline="\n")
    else:
        shutil.copy(tokenizer, folder / TOKENIZER)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": start,
        "cls_token": start,
        "eos_token": end,
        "sep_token": end,
        "pad_token": pad,
        "unk_token": unknown,
        "mask_token": mask,
        "model_max_length": length,
        "clean_up_tokenization_spaces": False,
    }
    text = json.dumps(config, indent=2, ensure_ascii=False)
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8", newline="\n")


def check_own_types(folder: Path, rows: int, pad: int | None) -> None:
    """Refuse a model with a tokenizer that is not its own: one with more types than its table of `rows` rows has, or
    with padding in another place than the model's, `pad`.

    Raises:
        BadInput: naming what disagrees; or it has no tokenizer that can be read.
    """
    types, path = _types(folder), folder / TOKENIZER
    if not types:
        raise BadInput("has no types", path)
    if (last := max(types.values())) >= rows:
        raise BadInput(f"has types up to id {last:,}, and the model beside it a table of {rows:,} rows", path)
    if pad not in (pads := [types[name] for name in ROLES["pad"] if name in types]):
        raise BadInput(f"padding is id {', '.join(map(str, pads)) or 'none'}, and the model beside it has {pad}", path)


def check_same_types(folder: Path, ours: Path) -> None:
    """Refuse a model whose ids mean other types than those of our vocabulary's tokenizer.

    Raises:
        BadInput: it has no tokenizer, or one of other types or other ids.
    """
    theirs = folder / TOKENIZER
    if theirs.is_file() and sha256(theirs) == sha256(ours):
        return
    if _types(folder) != Tokenizer.from_file(str(ours)).get_vocab(with_added_tokens=True):
        raise BadInput(f"expected the vocabulary of {ours}, so that an id is the same type to both", theirs)


def _types(folder: Path) -> dict[str, int]:
    """The types of a folder's tokenizer: a model's class may add some of its own to those of the file."""
    try:
        return dict(Tokenizer.from_file(str(folder / TOKENIZER)).get_vocab(with_added_tokens=True))
    except Exception:  # tokenizers raises bare Exception; transformers may read other files
        return dict(load_tokenizer(folder).get_vocab())
