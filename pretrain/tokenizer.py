"""The tokenizer beside a model's weights: transformers' AutoTokenizer reads the ids that the model learnt."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tokenizers import Tokenizer

from derive.errors import BadInput
from derive.files import sha256
from derive.types import Specials
from pretrain.saved_model import load_tokenizer

TOKENIZER, CONFIG = "tokenizer.json", "tokenizer_config.json"


def write_tokenizer(tokenizer: Path, folder: Path, specials: Specials, length: int) -> None:
    """Copy a vocabulary's tokenizer, and say what transformers must know: its class and special types.

    Without that, transformers would make RoBERTa's own tokenizer of the same file, which cuts words another way.
    `length` is how many ids a row of the model may have.
    """
    shutil.copy(tokenizer, folder / TOKENIZER)
    made = Tokenizer.from_file(str(tokenizer))
    start, pad, end, unknown, mask = (
        made.id_to_token(i) for i in (specials.start, specials.pad, specials.end, specials.unknown, specials.mask)
    )
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


def check_same_types(folder: Path, ours: Path) -> None:
    """Refuse a model whose ids mean other types than those of our vocabulary's tokenizer.

    Raises:
        BadInput: it has no tokenizer, or one of other types or other ids.
    """
    theirs = folder / TOKENIZER
    if theirs.is_file() and sha256(theirs) == sha256(ours):
        return
    if load_tokenizer(folder).get_vocab() != Tokenizer.from_file(str(ours)).get_vocab(with_added_tokens=True):
        raise BadInput(f"expected the vocabulary of {ours}, so that an id is the same type to both", theirs)
