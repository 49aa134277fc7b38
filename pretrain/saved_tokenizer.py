"""The tokenizers in checkpoints, and checks of tokenizers against a model or vocabulary."""

import json
import shutil
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from calque.derive.errors import BadInput
from calque.derive.files import write_json
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages
from calque.derive.script import Letters
from calque.derive.types import Specials
from calque.derive.vocabulary import ROLES, TOKENIZER, TOKENIZER_CONFIG, role_names
from calque.pretrain.saved_model import load_tokenizer

TOKENIZERS = "tokenizers"  # the folder for tokenizers of derived languages
_SPARE, _NEVER, _KEPT = "\U0010fffd", "\U0010fffc", 0x100000
"""Private-use characters: a temporary letter, a marker for unused pieces, and the first placeholder for
special types."""


def write_tokenizers(languages: Languages, folder: Path, length: int) -> None:
    """Write the source's tokenizer to a checkpoint's folder and, for every other language whose spelling
    merely replaces letters, write a tokenizer for text in this spelling to `tokenizers/`."""
    write_tokenizer(languages.tokenizer, folder, languages.specials, length)
    state = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    for name in languages.others:
        letters, table = languages.letters(name), languages[name].table
        if letters is None:
            continue
        own = folder / TOKENIZERS / name
        own.mkdir(parents=True)
        for file in (TOKENIZER, TOKENIZER_CONFIG):
            shutil.copy(folder / file, own / file)
        if letters or (table != np.arange(len(table))).any():
            write_json(own / TOKENIZER, derived_tokenizer(state, table, letters))


def write_tokenizer(tokenizer: Path, folder: Path, specials: Specials, length: int) -> None:
    """Copy a vocabulary's tokenizer, adding a template if it has none, and write its class, special types and
    maximum `length` for transformers, which would otherwise use RoBERTa's own tokenizer."""
    copy = Tokenizer.from_str(tokenizer.read_text(encoding="utf-8"))  # read_text's errors name the file
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
    write_json(folder / TOKENIZER_CONFIG, config)


def check_own_types(folder: Path, rows: int, pad: int | None) -> None:
    """Raise BadInput unless a tokenizer's ids are below `rows` and padding's id is `pad`, as in its model."""
    types, path = _types(folder), folder / TOKENIZER
    if not types:
        raise BadInput("has no types", path)
    if (last := max(types.values())) >= rows:
        table = f"the model next to it has a table of {rows:,} rows"
        raise BadInput(f"contains ids up to {last:,}, but {table}", path)
    name = role_names(folder).get("pad")
    names = [name] if name in types else [name for name in ROLES["pad"] if name in types]
    pads = [types[name] for name in names]
    if pad not in pads:
        found = ", ".join(map(str, pads)) or "none"
        raise BadInput(f"padding has the id {found}, but the model next to it uses {pad}", path)


def check_same_types(folder: Path, ours: Path) -> None:
    """Raise BadInput unless a model's ids represent the same types as in the vocabulary `ours`."""
    theirs = folder / TOKENIZER
    if theirs.is_file() and sha256(theirs) == sha256(ours):
        return
    if _types(folder) != Tokenizer.from_file(str(ours)).get_vocab(with_added_tokens=True):
        raise BadInput(f"the vocabulary differs from {ours}, so ids stand for different types", theirs)


def _types(folder: Path) -> dict[str, int]:
    try:
        return dict(Tokenizer.from_file(str(folder / TOKENIZER)).get_vocab(with_added_tokens=True))
    except Exception:  # tokenizers raises a bare Exception; transformers may support other files
        return dict(load_tokenizer(folder).get_vocab())


def derived_tokenizer(tokenizer: Mapping[str, Any], table: np.ndarray, letters: Letters) -> dict[str, Any]:
    """Convert the vocabulary's `tokenizer.json` to one for a derived language, which encodes text in the
    language's `letters` as the language's ids (`table`, (V,)) and decodes these ids to the same text, except
    for letters that are images but have no image themselves."""
    state = deepcopy(dict(tokenizer))
    model, added = state["model"], state["added_tokens"]
    if isinstance(model["vocab"], dict):  # BPE, WordPiece, whole words
        model["vocab"] = {piece: int(table[i]) for piece, i in model["vocab"].items()}
    else:  # Unigram, with list indices as ids
        rows = [[f"{_NEVER}{i}", -1e4] for i in range(int(table.max()) + 1)]
        for i, entry in enumerate(model["vocab"]):
            rows[int(table[i])] = entry
        model["vocab"] = rows
    for token in added:
        token["id"] = int(table[token["id"]])
        # Special types must be matched before letters are replaced.
        token["normalized"] = token["normalized"] and not token["special"]
    if not letters:
        return state
    normalizers = [*_exchange({spelt: letter for letter, spelt in letters.items()}), state["normalizer"]]
    state["normalizer"] = {"type": "Sequence", "normalizers": [part for part in normalizers if part]}
    # Single characters represent the names of special types while letters are replaced.
    names = {chr(i): t["content"] for i, t in enumerate((t for t in added if t["special"]), start=_KEPT)}
    decoders = [_replace({"Regex": f"^{_escaped(name)}$"}, stand_in) for stand_in, name in names.items()]
    decoders.append(state["decoder"] or {"type": "WordPiece", "prefix": _NEVER, "cleanup": False})
    decoders += [{"type": "Fuse"}, *_exchange(letters)]
    decoders += [_replace({"String": stand_in}, name) for stand_in, name in names.items()]
    state["decoder"] = {"type": "Sequence", "decoders": decoders}
    return state


def _escaped(name: str) -> str:
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in name)


def _exchange(letters: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return replacements that map letters to their images when applied in order: each letter is replaced
    before another one becomes it."""
    waiting, turns = dict(letters), []
    while waiting:
        last = next((letter for letter, spelt in waiting.items() if spelt not in waiting), None)
        if last is None:  # only cycles are left, so break one
            first, spelt = next(iter(waiting.items()))
            turns.append(_replace({"String": first}, _SPARE))
            del waiting[first]
            waiting[_SPARE] = spelt
        else:
            turns.append(_replace({"String": last}, waiting.pop(last)))
    return turns


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}
