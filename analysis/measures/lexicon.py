"""Compare the embeddings of a lexicon's words and their translations. Shapes: n entries, H width."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calque.derive.dictionary import Entry, only_ids
from calque.derive.errors import BadInput
from calque.derive.vocabulary import GivenVocabulary
from calque.pretrain.saved_model import load_model

SIDES = ("source", "target")


@dataclass(frozen=True)
class LexiconRows:
    """The embeddings of n words and of their translations, (n, H) float32 each, normalised to unit length."""

    entries: tuple[Entry, ...]
    source: np.ndarray
    target: np.ndarray

    @property
    def cosine(self) -> float:
        return float((self.source * self.target).sum(1).mean())

    @property
    def found(self) -> int:
        near = self.source @ self.target.T
        own = np.diag(near).copy()
        np.fill_diagonal(near, -np.inf)
        return int((own > near.max(1)).sum())


def chosen(
    entries: Sequence[Entry], folders: Sequence[Path], count: int, left_out: Collection[str] = ()
) -> tuple[Entry, ...]:
    """Return the first `count` entries whose two words differ, are single types in every model, and do not
    occur in an entry already chosen or in `left_out`."""
    sides = [[getattr(entry, side) for entry in entries] for side in SIDES]
    own = np.ones(len(entries), bool)
    for folder in folders:
        vocabulary = GivenVocabulary(folder).open()
        source, target = (np.array(only_ids(words, vocabulary)) for words in sides)
        own &= (source >= 0) & (target >= 0) & (source != target)
    found: list[Entry] = []
    seen: set[tuple[str, str]] = set()
    for entry, usable in zip(entries, own, strict=True):
        words = {(side, getattr(entry, side)) for side in SIDES}
        if usable and not words & seen and not {entry.source, entry.target} & set(left_out):
            found.append(entry)
            seen |= words
        if len(found) == count:
            break
    if len(found) < 2:
        raise BadInput(f"{len(found)} lexicon entries consist of two single types; expected at least two")
    return tuple(found)


def word_pairs(folder: Path, entries: Sequence[Entry]) -> LexiconRows:
    """Read, from the model in a folder, the embeddings of the words in `entries`, a result of `chosen`."""
    vocabulary = GivenVocabulary(folder).open()
    model: Any = load_model(folder)[0]
    table = model.get_input_embeddings().weight.detach().numpy()
    sides = []
    for side in SIDES:
        ids = np.array(only_ids([getattr(entry, side) for entry in entries], vocabulary))
        if ids.max() >= len(table):
            what = f"the tokenizer uses the id {ids.max():,}, but the model has only {len(table):,} types"
            raise BadInput(what, folder)
        rows = table[ids]
        sides.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return LexiconRows(tuple(entries), *sides)
