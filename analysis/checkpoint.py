"""Looking inside a checkpoint: filled masks, nearest words and embeddings, language by language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import AutoModelForMaskedLM

from calque.derive.errors import BadInput, unknown
from calque.derive.language import SOURCE
from calque.pretrain.saved_model import TOKENIZERS, load_model, load_tokenizer


class Guess(NamedTuple):
    """A type that the model predicts for a mask."""

    word: str
    language: str
    probability: float


class Neighbour(NamedTuple):
    """A type near another one, by the cosine of their embeddings."""

    word: str
    language: str
    cosine: float


@dataclass(frozen=True)
class Checkpoint:
    """A masked language model, and the tokenizer of each of its languages. A derived language's text is read and
    printed in its own letters, as `calque.derive` writes it."""

    folder: Path
    model: Any
    tokenizers: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Checkpoint:
        """The checkpoint of a folder. Raises BadInput if there is none."""
        model, _ = load_model(folder, AutoModelForMaskedLM)
        own = sorted(path for path in (folder / TOKENIZERS).glob("*") if path.is_dir())
        tokenizers = {SOURCE: load_tokenizer(folder)} | {path.name: load_tokenizer(path) for path in own}
        return cls(folder, model.eval(), tokenizers)

    @property
    def languages(self) -> tuple[str, ...]:
        """The source, and the derived languages that have a tokenizer."""
        return tuple(self.tokenizers)

    def fill(self, text: str, language: str = SOURCE, count: int = 5) -> list[Guess]:
        """The `count` most probable types, whatever their language, for the one mask of a text in `language`. `text` is
        words separated by spaces, with `<mask>` (or the tokenizer's own mask) in one place."""
        tokenizer = self._tokenizer(language)
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        places = (ids[0] == tokenizer.mask_token_id).nonzero().flatten().tolist()
        if len(places) != 1:
            raise BadInput(f"{len(places)} masks in the text; expected one {tokenizer.mask_token}")
        with torch.inference_mode():
            scores = self.model(input_ids=ids).logits[0, places[0]].softmax(-1)
        best = scores.topk(min(count, len(scores)))
        return [Guess(*self._name(i), p) for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)]

    def nearest(self, word: str, language: str = SOURCE, among: str | None = None, count: int = 5) -> list[Neighbour]:
        """The `count` types whose embeddings are nearest to a word's by cosine, nearest first, without the word itself.
        `word` is a word of `language` that is one type; `among` is the language to search (default: all)."""
        ids = self._tokenizer(language)(word, add_special_tokens=False)["input_ids"]
        if len(ids) != 1 or ids[0] == self.tokenizers[language].unk_token_id:
            raise BadInput(f"{word!r} is {len(ids)} types of {language}; expected a word that is one type")
        table = self._table / self._table.norm(dim=1, keepdim=True).clamp_min(1e-12)
        cosines = table @ table[ids[0]]
        allowed = np.unique(np.concatenate([self.ids(name) for name in ([among] if among else self.languages)]))
        order = allowed[np.argsort(-cosines[torch.from_numpy(allowed)].numpy(), kind="stable")]
        return [Neighbour(*self._name(i), float(cosines[i])) for i in order[order != ids[0]][:count].tolist()]

    def embeddings(self, language: str = SOURCE) -> tuple[list[str], np.ndarray]:
        """The types of a language in its own spelling, without special ones, and their embeddings, (types, width)."""
        ids = self.ids(language)
        return [self._name(i)[0] for i in ids.tolist()], self._table[torch.from_numpy(ids)].numpy()

    def ids(self, language: str) -> np.ndarray:
        """The ids of a language's types, ascending, without special ones."""
        tokenizer = self._tokenizer(language)
        return np.array(sorted({*tokenizer.get_vocab().values()} - {*tokenizer.all_special_ids}), np.int64)

    @cached_property
    def _table(self) -> torch.Tensor:
        return self.model.get_input_embeddings().weight.detach()

    @cached_property
    def _language_of(self) -> dict[int, str]:
        """The language of each id; a shared type is the source's."""
        return {i: name for name in reversed(self.languages) for i in self.ids(name).tolist()}

    def _name(self, i: int) -> tuple[str, str]:
        language = self._language_of.get(i, SOURCE)
        return self.tokenizers[language].decode([i]).strip(), language

    def _tokenizer(self, language: str) -> Any:
        if language not in self.tokenizers:
            raise BadInput(unknown("language", language, self.languages))
        return self.tokenizers[language]
