"""Words of a lexicon as rows of a model's table: whether a translation is the nearest row, without any context.

Shapes: R rows of a table, H width, n entries, c candidates.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from derive.dictionary import Entry, only_ids
from derive.errors import BadInput
from derive.vocabulary import GivenVocabulary
from pretrain.saved_model import load_model

BLOCK = 512  # entries that are compared at a time
SIDES = ("source", "target")


def lexicon_alignment(table: Tensor, entries: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """alignment@1 of natural languages: which entries find their translation, (n,) bool.

    An entry does if the translation is more similar (cosine) to the word than every other candidate. Languages that
    share a vocabulary share rows, and a word would find itself, so it is no candidate of its own. A tie is no find.
    Unlike a derived language's, translations are not one to one: finding a synonym counts as none.

    Args:
        table: (R, H) word embeddings.
        entries: (n, 2) rows of words and of their translations, which are among the candidates.
        candidates: (c,) rows to search, such as those of the types in the second language's text.

    Raises:
        ValueError: an entry's translation is its own word, or no candidate.
    """
    if not np.isin(entries[:, 1], candidates).all() or (entries[:, 0] == entries[:, 1]).any():
        raise ValueError("a translation is a candidate, and another row than its word")
    rows = F.normalize(table.detach()[torch.from_numpy(candidates)].float(), dim=1)
    place = np.full(len(table), -1)
    place[candidates] = np.arange(len(candidates))
    found = []
    for start in range(0, len(entries), BLOCK):
        words, translations = entries[start : start + BLOCK].T
        queries = F.normalize(table.detach()[torch.from_numpy(np.ascontiguousarray(words))].float(), dim=1)
        similarity, here = queries @ rows.T, np.arange(len(words))
        itself = place[words]
        similarity[here[itself >= 0], itself[itself >= 0]] = -torch.inf
        own = similarity[here, place[translations]].clone()
        similarity[here, place[translations]] = -torch.inf
        found.append((own > similarity.amax(1)).numpy())
    return np.concatenate(found) if found else np.empty(0, bool)


@dataclass(frozen=True)
class LexiconRows:
    """The rows of n words and of their translations, (n, H) float32 each, of length 1."""

    entries: tuple[Entry, ...]
    source: np.ndarray
    target: np.ndarray

    @property
    def cosine(self) -> float:
        """The mean cosine of a word and its translation."""
        return float((self.source * self.target).sum(1).mean())

    @property
    def found(self) -> int:
        """How many words are nearer to their translation than to that of any other; a tie is no find."""
        near = self.source @ self.target.T
        own = np.diag(near).copy()
        np.fill_diagonal(near, -np.inf)
        return int((own > near.max(1)).sum())


def chosen(
    entries: Sequence[Entry], folders: Sequence[Path], count: int, left_out: Collection[str] = ()
) -> tuple[Entry, ...]:
    """The first `count` entries of two words that are one type each to every model, without those of `left_out`. A word
    is in one of them only, the first, so that there are as many words as translations."""
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
        raise BadInput(f"{len(found)} entries of the lexicon have two words of one type each; expected two at least")
    return tuple(found)


def word_pairs(folder: Path, entries: Sequence[Entry]) -> LexiconRows:
    """The rows of the words of `chosen` entries in the table of the model in a folder."""
    vocabulary = GivenVocabulary(folder).open()
    model: Any = load_model(folder)[0]
    table = model.get_input_embeddings().weight.detach().numpy()
    sides = []
    for side in SIDES:
        ids = np.array(only_ids([getattr(entry, side) for entry in entries], vocabulary))
        if ids.max() >= len(table):
            raise BadInput(f"the model has {len(table):,} types, and its tokenizer an id {ids.max():,}", folder)
        rows = table[ids]
        sides.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return LexiconRows(tuple(entries), *sides)
