"""Write a tokenizer for each language to a checkpoint."""

import json
import shutil
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers.processors import TemplateProcessing

from calque.derive.files import write_json
from calque.derive.languages import Languages
from calque.derive.script import Letters
from calque.derive.vocabulary import (
    TOKENIZER,
    TOKENIZER_CONFIG,
    Specials,
    open_tokenizer,
)

TOKENIZERS = "tokenizers"  # the folder for tokenizers of derived languages
_NEVER, _KEPT, _SPARE = "\U0010fffc", 0x100000, 0x101000
"""Private-use characters: a marker for unused pieces, and the first of the stand-ins for special types and
for letters."""


def write_tokenizers(languages: Languages, folder: Path, length: int) -> None:
    """Write the source's tokenizer to a checkpoint and, for languages whose spelling merely replaces letters,
    a tokenizer for that spelling to `tokenizers/`."""
    write_tokenizer(languages.tokenizer, folder, languages.specials, length)
    state = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    for name in languages.others:
        letters, table = languages.letters(name), languages[name].table
        if letters is None:
            continue
        language_folder = folder / TOKENIZERS / name
        language_folder.mkdir(parents=True)
        for file in (TOKENIZER, TOKENIZER_CONFIG):
            shutil.copy(folder / file, language_folder / file)
        if letters or (table != np.arange(len(table))).any():
            write_json(language_folder / TOKENIZER, derived_tokenizer(state, table, letters))


def write_tokenizer(tokenizer: Path, folder: Path, specials: Specials, length: int) -> None:
    """Copy a vocabulary's tokenizer, with a template, and write its settings for transformers, which would
    otherwise use RoBERTa's own tokenizer."""
    copy = open_tokenizer(tokenizer)
    start, pad, end, unknown, mask, *_ = map(copy.id_to_token, specials.ids)
    if copy.post_processor is None:
        copy.post_processor = TemplateProcessing(
            single=f"{start} $A {end}",
            pair=f"{start} $A {end} {end} $B {end}",
            special_tokens=[(start, specials.start), (end, specials.end)],
        )
        (folder / TOKENIZER).write_text(copy.to_str(pretty=True), encoding="utf-8", newline="\n")
    else:
        shutil.copy(tokenizer, folder / TOKENIZER)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",  # which uses tokenizer.json unchanged
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
    write_json(folder / TOKENIZER_CONFIG, config)


def derived_tokenizer(tokenizer: Mapping[str, Any], table: np.ndarray, letters: Letters) -> dict[str, Any]:
    """Convert a `tokenizer.json` to a derived language's `letters`. It encodes text as the language's ids
    (`table`, (V,)) and decodes them to the same text, except for letters that are images but have no image
    themselves."""
    state = deepcopy(dict(tokenizer))
    model, added_tokens = state["model"], state["added_tokens"]
    if isinstance(model["vocab"], dict):  # BPE, WordPiece, whole words
        model["vocab"] = {piece: int(table[i]) for piece, i in model["vocab"].items()}
    else:  # Unigram, with list indices as ids
        rows = [[f"{_NEVER}{i}", -1e4] for i in range(int(table.max()) + 1)]
        for i, entry in enumerate(model["vocab"]):
            rows[int(table[i])] = entry
        model["vocab"] = rows
    for token in added_tokens:
        token["id"] = int(table[token["id"]])
        # Special types must be matched before letters are replaced.
        token["normalized"] = token["normalized"] and not token["special"]
    if not letters:
        return state
    normalizers = [*_exchange({spelt: letter for letter, spelt in letters.items()}), state["normalizer"]]
    state["normalizer"] = {"type": "Sequence", "normalizers": [part for part in normalizers if part]}
    # Single characters represent the names of special types while letters are replaced.
    names = [token["content"] for token in added_tokens if token["special"]]
    stand_ins = {name: chr(_KEPT + i) for i, name in enumerate(names)}
    decoders = [_replace({"Regex": f"^{_escaped(name)}$"}, stand_in) for name, stand_in in stand_ins.items()]
    decoders.append(state["decoder"] or {"type": "WordPiece", "prefix": _NEVER, "cleanup": False})
    decoders += [{"type": "Fuse"}, *_exchange(letters)]
    decoders += [_replace({"String": stand_in}, name) for name, stand_in in stand_ins.items()]
    state["decoder"] = {"type": "Sequence", "decoders": decoders}
    return state


def _escaped(name: str) -> str:
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in name)


def _exchange(letters: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return replacements, by way of stand-ins, that map letters to their images."""
    stand_ins = {letter: chr(_SPARE + i) for i, letter in enumerate(letters)}
    rules = [_replace({"String": letter}, stand_in) for letter, stand_in in stand_ins.items()]
    return rules + [_replace({"String": stand_ins[letter]}, spelt) for letter, spelt in letters.items()]


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}
