"""How a derived language is spelt, letter by letter, and a tokenizer that reads and prints it.

`Transform.spell` shows a word to people. Where it exchanges letters one by one, as `Transliterate` does, a tokenizer
can do so too: it reads letters back before it cuts words, and exchanges them in what it prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from derive.transform import Transform
from derive.vocabulary import Vocabulary

Letters = dict[str, str]
"""Each letter that changes, with what it becomes; no two become the same."""
_SPARE, _NEVER, _KEPT = "\U0010fffd", "\U0010fffc", 0x100000
"""Private characters, which no text has: a letter on its way, a mark that no piece has, special types meanwhile."""
_SURROGATES = 0xD800
"""Letters are sought below these."""


def letters_of(transform: Transform, vocabulary: Vocabulary) -> Letters | None:
    """The letters that a transform's spelling exchanges, or None where it does more to the types of a vocabulary."""
    every = {letter: transform.spell(letter) for letter in map(chr, range(_SURROGATES))}
    letters = {letter: spelt for letter, spelt in every.items() if spelt != letter}
    if any(len(spelt) != 1 or spelt.isspace() for spelt in letters.values()) or any(map(str.isspace, letters)):
        return None
    if len(set(letters.values())) < len(letters):
        return None
    table = str.maketrans(letters)
    texts = (vocabulary.text([i]) for i in vocabulary.specials.ordinary(vocabulary.size))
    alike = all(transform.spell(text) == text.translate(table) for text in texts if text.strip())
    return letters if alike else None


def derived_tokenizer(tokenizer: Mapping[str, Any], table: np.ndarray, letters: Letters) -> dict[str, Any]:
    """The state of a tokenizer of a derived language, made from that of the vocabulary, as tokenizer.json holds it.

    It gives the language's ids of the language's text, and prints them as that text. Text with a letter that others
    become, and that itself becomes no other, is the one that it does not print as it was.

    Args:
        table: (V,) the id of each type in the language.
        letters: how it is spelt.
    """
    made = deepcopy(dict(tokenizer))
    model = made["model"]
    if isinstance(model["vocab"], dict):  # BPE, WordPiece, whole words
        model["vocab"] = {piece: int(table[i]) for piece, i in model["vocab"].items()}
    else:  # Unigram, whose ids are places in a list
        rows = [[f"{_NEVER}{i}", -1e4] for i in range(int(table.max()) + 1)]
        for i, entry in enumerate(model["vocab"]):
            rows[int(table[i])] = entry
        model["vocab"] = rows
    special = [token["content"] for token in made["added_tokens"] if token["special"]]
    for token in made["added_tokens"]:
        token["id"] = int(table[token["id"]])
        token["normalized"] = token["normalized"] and not token["special"]  # found before letters are exchanged
    if letters:
        back = _exchange({spelt: letter for letter, spelt in letters.items()})
        made["normalizer"] = _in_turn("normalizers", [*back, made["normalizer"]])
        kept = [({"Regex": f"^{_escaped(name)}$"}, chr(_KEPT + i)) for i, name in enumerate(special)]
        given_back = [({"String": chr(_KEPT + i)}, name) for i, name in enumerate(special)]
        joined = made["decoder"] or {"type": "WordPiece", "prefix": _NEVER, "cleanup": False}
        made["decoder"] = _in_turn(
            "decoders", [*_replacing(kept), joined, _FUSE, *_exchange(letters), *_replacing(given_back)]
        )
    return made


_FUSE = {"type": "Fuse"}


def _in_turn(what: str, parts: Iterable[Any]) -> dict[str, Any]:
    return {"type": "Sequence", what: [part for part in parts if part]}


def _exchange(letters: Mapping[str, str]) -> list[dict[str, Any]]:
    """Replacements, one after the other, that exchange letters: each before what would make it anew."""
    waiting, turns = dict(letters), []
    while waiting:
        last = next((letter for letter, spelt in waiting.items() if spelt not in waiting), None)
        if last is None:  # only circles are left: one is opened
            first, spelt = next(iter(waiting.items()))
            turns.append(({"String": first}, _SPARE))
            del waiting[first]
            waiting[_SPARE] = spelt
        else:
            turns.append(({"String": last}, waiting.pop(last)))
    return _replacing(turns)


def _replacing(turns: Iterable[tuple[dict[str, str], str]]) -> list[dict[str, Any]]:
    return [{"type": "Replace", "pattern": pattern, "content": content} for pattern, content in turns]


def _escaped(name: str) -> str:
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in name)
