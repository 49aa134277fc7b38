"""Looking inside a checkpoint: filled masks, nearest words and embeddings, language by language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from calque.derive.artefact import whole_of
from calque.derive.errors import BadInput, unknown
from calque.derive.language import SOURCE
from calque.pretrain import start
from calque.pretrain.architecture import has_languages
from calque.pretrain.saved_model import RUN, TOKENIZERS, check_own_types, load_model, load_tokenizer


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
    numbered: tuple[str, ...] = (SOURCE,)  # all languages that it read, in the order of their language embeddings

    @classmethod
    def open(cls, folder: Path) -> Checkpoint:
        """The checkpoint of a folder. Raises BadInput if there is none, or if a tokenizer is another model's."""
        from transformers import AutoModelForMaskedLM

        model, _ = load_model(folder, AutoModelForMaskedLM)
        run = whole_of(folder, RUN)
        rows, trained = int(model.config.vocab_size), run.facts["identity"]["languages"] if run else ()
        places = {path.name: path for path in sorted((folder / TOKENIZERS).glob("*")) if path.is_dir()}
        numbered = tuple(dict.fromkeys([SOURCE, *trained, *places]))
        places = {SOURCE: folder} | {name: places[name] for name in numbered if name in places}
        for place in places.values():
            check_own_types(place, rows, model.config.pad_token_id)
        return cls(folder, model.eval(), {name: load_tokenizer(place) for name, place in places.items()}, numbered)

    @property
    def languages(self) -> tuple[str, ...]:
        """The source, and the derived languages that have a tokenizer, in the order of the model's training."""
        return tuple(self.tokenizers)

    def fill(self, text: str, language: str = SOURCE, count: int = 5) -> list[Guess]:
        """The `count` most probable types, whatever their language, for the one mask of a text in `language`. `text` is
        words separated by spaces, with `<mask>` (or the tokenizer's own mask) in one place."""
        guesses = self.fill_all(text, language, count)
        if len(guesses) != 1:
            mask = self._tokenizer(language).mask_token
            raise BadInput(f"{len(guesses)} masks in the text; expected one {mask}")
        return guesses[0]

    def fill_all(self, text: str, language: str, count: int) -> list[list[Guess]]:
        """The guesses of `fill` for each mask of a text, from left to right."""
        if not self.has_head:
            raise BadInput("no prediction head in this model, so it guesses nothing", self.folder)
        tokenizer = self._tokenizer(language)
        ids = tokenizer(text)["input_ids"]
        if len(ids) > tokenizer.model_max_length:
            raise BadInput(f"{len(ids)} ids in the text; expected at most {tokenizer.model_max_length}", self.folder)
        rows, types = torch.tensor([ids]), torch.full((1, len(ids)), self.token_type(language))
        with torch.inference_mode():
            scores = self.model(input_ids=rows, **({"token_type_ids": types} if types.any() else {})).logits[0]
            best = scores[rows[0] == tokenizer.mask_token_id].softmax(-1).topk(min(count, scores.shape[1]))
        pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
        return [[Guess(*self.name(i), p) for p, i in zip(*pair, strict=True)] for pair in pairs]

    def nearest(self, word: str, language: str = SOURCE, among: str | None = None, count: int = 5) -> list[Neighbour]:
        """The `count` types whose embeddings are nearest to a word's by cosine, nearest first, without the word itself.
        `word` is a word of `language` that is one type; `among` is the language to search (default: all)."""
        (ids,) = self.pieces([word], language)
        if not self.is_type(word, language):
            raise BadInput(f"{word!r}: expected a word that is one type of {language}")
        table = self._table / self._table.norm(dim=1, keepdim=True).clamp_min(1e-12)
        cosines = table @ table[ids[0]]
        allowed = np.unique(np.concatenate([self.ids(name) for name in ([among] if among else self.languages)]))
        order = allowed[np.argsort(-cosines[torch.from_numpy(allowed)].numpy(), kind="stable")]
        return [Neighbour(*self.name(i), float(cosines[i])) for i in order[order != ids[0]][:count].tolist()]

    def pieces(self, words: Sequence[str], language: str = SOURCE) -> list[list[int]]:
        """The ids of each word, encoded after a space as inside a sentence."""
        tokenizer = self._tokenizer(language)
        spaced = (word if word == tokenizer.mask_token else f" {word}" for word in words)
        return [tokenizer(word, add_special_tokens=False)["input_ids"] for word in spaced]

    def is_type(self, word: str, language: str) -> bool:
        """Whether a word is one type of a language, and not a special one."""
        (ids,) = self.pieces([word], language)
        return len(ids) == 1 and ids[0] not in self.tokenizers[language].all_special_ids

    def embeddings(self, language: str = SOURCE) -> tuple[list[str], np.ndarray]:
        """The types of a language in its own spelling, without special ones, and their embeddings, (types, width)."""
        ids = self.ids(language)
        return [self.name(i)[0] for i in ids.tolist()], self._table[torch.from_numpy(ids)].numpy()

    def ids(self, language: str) -> np.ndarray:
        """The ids of a language's types, ascending, without special ones."""
        tokenizer = self._tokenizer(language)
        return np.array(sorted({*tokenizer.get_vocab().values()} - {*tokenizer.all_special_ids}), np.int64)

    def token_type(self, language: str) -> int:
        """The token type of a language's text: its number, in models with language embeddings."""
        types = getattr(self.model.config, "type_vocab_size", None) or 0
        return self.numbered.index(language) if has_languages(types) else 0

    @cached_property
    def has_head(self) -> bool:
        """Whether the folder has the weights that predict words."""
        return start.has_head(self.folder)

    @cached_property
    def _table(self) -> torch.Tensor:
        return self.model.get_input_embeddings().weight.detach()

    @cached_property
    def _language_of(self) -> dict[int, str]:
        """The language of each id; a shared type is the source's."""
        return {i: name for name in reversed(self.languages) for i in self.ids(name).tolist()}

    def name(self, i: int) -> tuple[str, str]:
        """The spelling and the language of an id."""
        language = self._language_of.get(i, SOURCE)
        return self.tokenizers[language].decode([i]).strip(), language

    def _tokenizer(self, language: str) -> Any:
        if language not in self.tokenizers:
            raise BadInput(unknown("language", language, self.languages))
        return self.tokenizers[language]
