"""Tokenizers in checkpoints, and whether they agree with a model, a vocabulary and AutoTokenizer."""

import json
import shutil
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from calque.derive.errors import BadInput
from calque.derive.files import write_json
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages
from calque.derive.script import Letters
from calque.derive.types import Specials
from calque.derive.vocabulary import (
    ROLES,
    TOKENIZER,
    TOKENIZER_CONFIG,
    open_tokenizer,
    tokenizer_settings,
)
from calque.pretrain.saved_model import CONFIG, load_tokenizer

TOKENIZERS = "tokenizers"  # the folder for tokenizers of derived languages
AS_SAVED = ("PreTrainedTokenizerFast", "TokenizersBackend")  # classes that use tokenizer.json unchanged
READING = ("tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space")
"""Settings that affect tokenization."""
SAMPLE = 500  # approximate number of types to compare
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
        "tokenizer_class": AS_SAVED[0],
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


def check_own_types(folder: Path, rows: int, pad: int | None) -> None:
    """Raise BadInput unless a tokenizer fits its model: all ids are below `rows`, and padding has the id
    `pad`."""
    types, path = _types(folder), folder / TOKENIZER
    if not types:
        raise BadInput("has no types", path)
    if (last := max(types.values())) >= rows:
        table = f"the model next to it has a table of {rows:,} rows"
        raise BadInput(f"contains ids up to {last:,}, but {table}", path)
    pads = [types[name] for name in ROLES["pad"] if name in types]
    if pad not in pads:
        ids = ", ".join(map(str, pads)) or "none"
        raise BadInput(f"padding has the id {ids}, but pad_token_id in {CONFIG} is {pad}", path)


def check_same_types(folder: Path, ours: Path) -> None:
    """Raise BadInput unless a model's ids represent the types of the vocabulary `ours`."""
    path = folder / TOKENIZER
    if path.is_file() and sha256(path) == sha256(ours):
        return
    if _types(folder) != Tokenizer.from_file(str(ours)).get_vocab(with_added_tokens=True):
        raise BadInput(f"the vocabulary differs from {ours}, so ids stand for different types", path)


def _types(folder: Path) -> dict[str, int]:
    try:
        return dict(Tokenizer.from_file(str(folder / TOKENIZER)).get_vocab(with_added_tokens=True))
    except Exception:  # tokenizers raises a bare Exception; transformers may support other files
        return dict(load_tokenizer(folder).get_vocab())


@cache
def check_tokenizer(folder: Path) -> None:
    """Raise BadInput unless AutoTokenizer, most of whose classes ignore parts of tokenizer.json, produces its
    ids."""
    settings = tokenizer_settings(folder)
    class_name = settings.get("tokenizer_class", None if (folder / CONFIG).exists() else AS_SAVED[0])
    added = (folder / "added_tokens.json").exists() or settings.get("added_tokens_decoder")
    if class_name in AS_SAVED and not added:
        return
    try:
        cases = list(_encodings(open_tokenizer(folder / TOKENIZER), load_tokenizer(folder)))
    except BadInput:
        raise
    except Exception as error:  # a bare Exception, for unknown words without an unknown type
        raise BadInput(f"AutoTokenizer's tokenizer cannot encode all words: {error}", folder) from None
    for text, ids, auto_ids in cases:
        if ids != auto_ids:
            options = ", ".join(f"{name}: {settings[name]}" for name in READING if name in settings)
            cause = f"{TOKENIZER_CONFIG} ({options})" if options else f"the model_type of {CONFIG}"
            fault = (
                f"encodes {text!r} as {ids}, but AutoTokenizer encodes it as {auto_ids}, because of {cause}"
            )
            advice = "make the files agree, or save AutoTokenizer's tokenizer here"
            raise BadInput(f"{fault}; {advice}", folder / TOKENIZER)


def _encodings(tokenizer: Tokenizer, auto_tokenizer: Any) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield words with both tokenizers' ids, then a row of two texts. The words are AutoTokenizer's
    additional types, and types with changed case, accents and word boundaries."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    auto_tokenizer.model_max_length = 1 << 30  # otherwise, transformers warns about long texts
    vocabulary, special = tokenizer.get_vocab(with_added_tokens=True), set(auto_tokenizer.all_special_tokens)
    words = sorted(auto_tokenizer.get_vocab().keys() - vocabulary.keys() - special)
    ordinary = sorted(vocabulary.keys() - special)
    for piece in ordinary[:: len(ordinary) // SAMPLE + 1]:
        if word := tokenizer.decode([vocabulary[piece]]).strip():
            accented = normalize("NFC", f"{word[0]}\u0301{word[1:]}")
            words += [word, word.upper(), word.title(), accented, f"{word}中{word}"]
    texts = [f" {word}" for word in words]
    ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    yield from zip(words, ids, auto_tokenizer(texts, add_special_tokens=False)["input_ids"], strict=True)
    row, auto_row = tokenizer.encode(" a", " a"), auto_tokenizer(" a", " a", return_token_type_ids=True)
    yield "a, a", row.ids, auto_row["input_ids"]
    yield "a, a", row.type_ids, auto_row["token_type_ids"]
