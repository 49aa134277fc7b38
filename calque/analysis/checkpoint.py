"""A model in memory, with its study's languages. Shapes: H hidden, m types with two embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calque.analysis.aligners import states_by_row
from calque.analysis.measures.alignment import Types, alignment_of_model, cosine, shares
from calque.analysis.measures.interventions import Rows, other_rows
from calque.derive.errors import BadInput, unknown
from calque.derive.files import Artefact, finished, whole_of
from calque.derive.fingerprint import plain
from calque.derive.languages import FORMAT, KIND, SOURCE, Languages
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, image_of
from calque.derive.transforms import transform as transform_called
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.model import has_languages, main_layer
from calque.pretrain.run import TRAINED_ON
from calque.pretrain.saved_model import RUN, TOKENIZERS, check_own_types, has_head, load_model, load_tokenizer


class Guess(NamedTuple):
    """A type that the model predicts for a mask."""

    word: str
    language: str
    probability: float


class Neighbour(NamedTuple):
    """A type near a given type, with the cosine of their embeddings."""

    word: str
    language: str
    cosine: float


@dataclass(frozen=True)
class Checkpoint:
    """A masked language model with a tokenizer for each of its languages. Methods that need a derived
    `language` (default: the first) work only inside the study's folder."""

    folder: Path
    model: Any
    tokenizers: dict[str, Any]
    facts: dict[str, Any]  # from the manifest of the run that trained the model; empty if there is none

    @classmethod
    def open(cls, folder: Path) -> Checkpoint:
        """Open a checkpoint's folder. Raises BadInput if it is missing or has another model's tokenizer."""
        model, _ = load_model(folder, with_head=True)
        run, tokenizers = whole_of(folder, RUN), {}
        for place in (folder, *sorted((folder / TOKENIZERS).glob("*/"))):
            check_own_types(place, int(model.config.vocab_size), model.config.pad_token_id)
            tokenizers[SOURCE if place == folder else place.name] = load_tokenizer(place)
        return cls(folder, model.eval(), tokenizers, run.facts if run else {})

    @property
    def languages(self) -> tuple[str, ...]:
        """The source language and the derived languages with a tokenizer, in training order."""
        return tuple(sorted(self.tokenizers, key=self._numbered.index))

    @cached_property
    def _numbered(self) -> list[str]:
        """All training languages, in the order of their language embeddings."""
        return list(dict.fromkeys([SOURCE, *self.identity.get("languages", ()), *self.tokenizers]))

    def fill(self, text: str, language: str = SOURCE, count: int = 5) -> list[Guess]:
        """Return the `count` most probable types, from any language, for the single `<mask>` in a text."""
        if not self.has_head:
            raise BadInput("the model has no prediction head, so it cannot fill masks", self.folder)
        tokenizer = self._tokenizer(language)
        rows = torch.tensor([tokenizer(text)["input_ids"]])
        self._check_length(rows.shape[1])
        types = torch.full_like(rows, self.token_type(language))
        with torch.inference_mode():
            scores = self.model(input_ids=rows, token_type_ids=types if types.any() else None).logits[0]
        masks = scores[rows[0] == tokenizer.mask_token_id].softmax(-1)
        if len(masks) != 1:
            raise BadInput(f"the text contains {len(masks)} masks; expected exactly one")
        order = masks[0].argsort(descending=True)[:count].tolist()
        return [Guess(*self.name(i), float(masks[0, i])) for i in order]

    def nearest(
        self, word: str, language: str = SOURCE, among: str | None = None, count: int = 5
    ) -> list[Neighbour]:
        """Return the `count` types in the language `among` (default: all languages) whose embeddings are most
        similar to that of `word`, which must be a single type in `language`."""
        if not self.is_type(word, language):
            raise BadInput(f"{word!r} is not a single type in the vocabulary of {language}")
        ((own,),) = self.pieces([word], language)
        table = self.model.get_input_embeddings().weight.detach()
        cosines = cosine(table, table[[own]])[:, 0].numpy()
        searched = np.unique(np.concatenate([*map(self.ids, [among] if among else self.languages)]))
        order = searched[np.argsort(-cosines[searched], kind="stable")]
        return [Neighbour(*self.name(i), float(cosines[i])) for i in order[order != own][:count].tolist()]

    def pieces(self, words: Sequence[str], language: str = SOURCE) -> list[list[int]]:
        """Return each word's ids, encoded as in the middle of a sentence."""
        tokenizer = self._tokenizer(language)
        spaced = (word if word == tokenizer.mask_token else f" {word}" for word in words)
        return [tokenizer(word, add_special_tokens=False)["input_ids"] for word in spaced]

    def states(self, words: Sequence[str], language: str = SOURCE) -> Tensor:
        """Return the states (words, H) of a sentence's words, means over sub-words, at the main layer."""
        pieces, (first, *_, last) = self.pieces(words, language), self._tokenizer(language)("")["input_ids"]
        row = np.array([first, *chain.from_iterable(pieces), last])
        self._check_length(len(row))
        ((_, layers),) = states_by_row(self.model, [row], self.token_type(language))
        hidden = layers[main_layer(len(layers) - 1), 1:-1]
        return torch.stack([part.mean(0) for part in hidden.split([*map(len, pieces)])])

    def is_type(self, word: str, language: str) -> bool:
        """Whether a word is a single type in a language, and not a special one."""
        (ids,) = self.pieces([word], language)
        return len(ids) == 1 and ids[0] not in self.tokenizers[language].all_special_ids

    def ids(self, language: str) -> np.ndarray:
        """The ids of a language's non-special types."""
        tokenizer = self._tokenizer(language)
        return np.array(sorted({*tokenizer.get_vocab().values()} - {*tokenizer.all_special_ids}), np.int64)

    def name(self, i: int) -> tuple[str, str]:
        """Return an id's spelling and language; types shared with the source count as source types."""
        language = self._language_of.get(i, SOURCE)
        return self.tokenizers[language].decode([i]).strip(), language

    def token_type(self, language: str) -> int:
        """Return a language's token type; 0 if the model has no language embeddings."""
        return self._numbered.index(language) if has_languages(self.model.config.type_vocab_size) else 0

    @cached_property
    def has_head(self) -> bool:
        return has_head(self.folder)

    @cached_property
    def _language_of(self) -> dict[int, str]:
        return {i: name for name in reversed(self.languages) for i in self.ids(name).tolist()}

    def _tokenizer(self, language: str) -> Any:
        if language not in self.tokenizers:
            raise BadInput(unknown("language", language, self.languages))
        return self.tokenizers[language]

    def _check_length(self, ids: int) -> None:
        limit = self.tokenizers[SOURCE].model_max_length
        if ids > limit:
            raise BadInput(f"the text has {ids} ids; the model accepts at most {limit}", self.folder)

    @property
    def identity(self) -> dict[str, Any]:
        """The configuration of the run that trained the model; empty if unknown."""
        return self.facts.get("identity", {})

    @cached_property
    def data(self) -> Languages | None:
        """The languages that the model was trained on, or None if no parent folder contains them."""
        for parent in self.folder.resolve().parents if TRAINED_ON in self.facts else ():
            if finished(folder := parent / self.facts[TRAINED_ON]):
                return Languages.open(folder, self.identity["languages"], whole=True)
        return None

    @cached_property
    def derived(self) -> tuple[str, ...]:
        """The derived languages that the model was trained on; empty if they are unknown."""
        return self.data.others if self.data and self.data.languages[0].name == SOURCE else ()

    def _derived(self, language: str = "") -> tuple[Languages, str]:
        if self.data is None:
            raise BadInput("no parent folder contains the languages the model was trained on", self.folder)
        if not self.derived:
            raise BadInput("the model was not trained on derived languages", self.folder)
        language = language or self.derived[0]
        if language not in self.derived:
            raise BadInput(unknown("derived language", language, self.derived), self.folder)
        return self.data, language

    def derive(self, sentence: str | Sequence[str], language: str = "") -> tuple[str, ...]:
        """Derive a source sentence's counterpart in `language`. Raises BadInput if the language's transform
        needs more input than words, such as a parse tree.

        >>> model.derive("Sara ate .")  # doctest: +SKIP
        ('ամե', 'Ճաղա', '.')
        """
        languages, name = self._derived(language)
        words = tuple(sentence.split() if isinstance(sentence, str) else sentence)
        mask = self.tokenizers[SOURCE].mask_token
        facts = Artefact.open(languages.folder, KIND, FORMAT).facts
        for seed in (0, self.identity["seed"]) if "config" in facts else ():
            transform = transform_called(name).reseeded(seed)
            if plain(transform) in facts["config"]["transforms"] and not transform.needs_trees:
                image = image_of(transform, Sentence(words), 0, Account())
                return tuple(word if word == mask else transform.spell(word) for word in image.words)
        raise BadInput(f"cannot derive text in {name}: no transform, or one that needs more than words")

    def alignment(self, rows: Tensor | np.ndarray | None = None, language: str = "") -> dict[str, float]:
        """Return alignment@1 from the source to a derived language, for each group of types. `rows` (m, H)
        replaces the embeddings of the derived words, in the order of `rows()`. Raises BadInput for a language
        that uses the source's script.

        >>> aligned = model.alignment()  # doctest: +SKIP
        >>> round(aligned["held-out"], 2), round(aligned["held-out-rotated"], 2)  # doctest: +SKIP
        (0.03, 0.49)
        >>> model.alignment(model.rows().source)["all"]  # doctest: +SKIP
        1.0
        """
        languages, language = self._derived(language)
        types = Types.of(languages, language)
        if not types.measurable:
            raise BadInput(f"{language} is in the source's script, so alignment@1 is undefined", self.folder)
        with torch.no_grad(), ExitStack() as changed:
            if rows is not None:
                changed.enter_context(other_rows(self.model, self.rows(language).ids, rows))
            return shares(alignment_of_model(self.model, types, controls=True))

    def rows(self, language: str = "") -> Rows:
        """Return the source and derived embeddings of the m words whose embedding differs."""
        return Rows.of(self.model, *self._derived(language))
