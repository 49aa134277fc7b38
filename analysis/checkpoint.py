"""Inspect a checkpoint in memory, and make copies with changed weights or states. Shapes: n words in a
sentence, L layers, H hidden, m types whose embedding differs in a derived language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any, NamedTuple

import numpy as np

from calque.analysis.measures.alignment import Types, alignment_of_model
from calque.analysis.measures.interventions import (
    Rows,
    SourceTuned,
    StateChange,
    hook_layer,
    moved_types,
    set_rows,
    train,
)
from calque.analysis.measures.states import states
from calque.analysis.model_study import Derivation, ModelStudy, measured_task, words_of
from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput, unknown
from calque.derive.files import whole_folder
from calque.derive.language import SOURCE, Bitext
from calque.derive.languages import Languages
from calque.derive.ragged import Ragged
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, image_of
from calque.pretrain import start
from calque.pretrain.architecture import architecture_of, has_languages
from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.saved_model import load_model, load_tokenizer
from calque.pretrain.saved_tokenizer import TOKENIZERS, check_own_types

WEIGHTS = "*.safetensors*", "*.bin", "*.h5", "*.msgpack", "*.onnx"  # not copied by `save`


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


class States(NamedTuple):
    """A sentence's words and their hidden states (L + 1, n, H): the embeddings, then the states after each
    layer."""

    words: tuple[str, ...]
    layers: np.ndarray


@dataclass(frozen=True)
class Checkpoint:
    """A masked language model with a tokenizer for each of its languages. Methods that need a derived
    `language` (default: the first) work only inside the study's folder. Methods that change the model return
    a copy."""

    folder: Path
    model: Any
    tokenizers: dict[str, Any]
    numbered: tuple[str, ...] = (SOURCE,)  # all training languages, in the order of their language embeddings
    changes: tuple[Callable[[Any], object], ...] = ()  # changes made since opening

    @classmethod
    def open(cls, folder: Path) -> Checkpoint:
        """Open the checkpoint in a folder. Raises BadInput if there is none, or if a tokenizer belongs to a
        different model."""
        from transformers import AutoModelForMaskedLM

        model, _ = load_model(folder, AutoModelForMaskedLM)
        places = {path.name: path for path in sorted((folder / TOKENIZERS).glob("*")) if path.is_dir()}
        trained = ModelStudy(folder).identity.get("languages", ())
        numbered = tuple(dict.fromkeys([SOURCE, *trained, *places]))
        places = {SOURCE: folder} | {name: places[name] for name in numbered if name in places}
        for place in places.values():
            check_own_types(place, int(model.config.vocab_size), model.config.pad_token_id)
        tokenizers = {name: load_tokenizer(place) for name, place in places.items()}
        return cls(folder, model.eval(), tokenizers, numbered)

    @property
    def languages(self) -> tuple[str, ...]:
        """The source language and the derived languages with a tokenizer, in training order."""
        return tuple(self.tokenizers)

    def fill(self, text: str, language: str = SOURCE, count: int = 5) -> list[Guess]:
        """Return the `count` most probable types, from any language, for the only `<mask>` in a text of words
        separated by spaces."""
        guesses = self.fill_all(text, language, count)
        if len(guesses) != 1:
            mask = self._tokenizer(language).mask_token
            raise BadInput(f"the text contains {len(guesses)} masks; expected exactly one {mask}")
        return guesses[0]

    def fill_all(self, text: str, language: str, count: int) -> list[list[Guess]]:
        """Return the `count` most probable types for each `<mask>` in a text."""
        if not self.has_head:
            raise BadInput("the model has no prediction head, so it cannot fill masks", self.folder)
        tokenizer = self._tokenizer(language)
        ids = tokenizer(text)["input_ids"]
        self._check_length(len(ids))
        rows, types = torch.tensor([ids]), torch.full((1, len(ids)), self.token_type(language))
        languages = {"token_type_ids": types} if types.any() else {}
        with torch.inference_mode():
            scores = self.model(input_ids=rows, **languages).logits[0]
            best = scores[rows[0] == tokenizer.mask_token_id].softmax(-1).topk(min(count, scores.shape[1]))
        pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
        return [[Guess(*self.name(i), p) for p, i in zip(*pair, strict=True)] for pair in pairs]

    def nearest(
        self, word: str, language: str = SOURCE, among: str | None = None, count: int = 5
    ) -> list[Neighbour]:
        """Return the `count` types whose embeddings have the highest cosine with that of `word`, a single
        type in `language`. `among` is the language to search (default: all)."""
        (ids,) = self.pieces([word], language)
        if not self.is_type(word, language):
            raise BadInput(f"{word!r} is not a single type in the vocabulary of {language}")
        table = self._table / self._table.norm(dim=1, keepdim=True).clamp_min(1e-12)
        cosines = table @ table[ids[0]]
        searched = [among] if among else self.languages
        allowed = np.unique(np.concatenate([self.ids(name) for name in searched]))
        order = allowed[np.argsort(-cosines[torch.from_numpy(allowed)].numpy(), kind="stable")]
        return [Neighbour(*self.name(i), float(cosines[i])) for i in order[order != ids[0]][:count].tolist()]

    def pieces(self, words: Sequence[str], language: str = SOURCE) -> list[list[int]]:
        """Return each word's ids, encoded after a space as it would be inside a sentence."""
        tokenizer = self._tokenizer(language)
        spaced = (word if word == tokenizer.mask_token else f" {word}" for word in words)
        return [tokenizer(word, add_special_tokens=False)["input_ids"] for word in spaced]

    def is_type(self, word: str, language: str) -> bool:
        (ids,) = self.pieces([word], language)
        return len(ids) == 1 and ids[0] not in self.tokenizers[language].all_special_ids

    def embeddings(self, language: str = SOURCE) -> tuple[list[str], np.ndarray]:
        """Return a language's non-special types, in its own spelling, and their embeddings (types, width)."""
        ids = self.ids(language)
        return [self.name(i)[0] for i in ids.tolist()], self._table[torch.from_numpy(ids)].numpy()

    def ids(self, language: str) -> np.ndarray:
        """Return the ids of a language's non-special types in ascending order."""
        tokenizer = self._tokenizer(language)
        return np.array(sorted({*tokenizer.get_vocab().values()} - {*tokenizer.all_special_ids}), np.int64)

    def name(self, i: int) -> tuple[str, str]:
        """Return an id's spelling and language; types shared with the source belong to the source."""
        language = self._language_of.get(i, SOURCE)
        return self.tokenizers[language].decode([i]).strip(), language

    def token_type(self, language: str) -> int:
        """Return the token type for text in a language: its index if the model has language embeddings,
        otherwise 0."""
        types = getattr(self.model.config, "type_vocab_size", None) or 0
        return self.numbered.index(language) if has_languages(types) else 0

    @cached_property
    def has_head(self) -> bool:
        return start.has_head(self.folder)

    @cached_property
    def _table(self) -> torch.Tensor:
        return self.model.get_input_embeddings().weight.detach()

    @cached_property
    def _language_of(self) -> dict[int, str]:
        return {i: name for name in reversed(self.languages) for i in self.ids(name).tolist()}

    def _tokenizer(self, language: str) -> Any:
        if language not in self.tokenizers:
            raise BadInput(unknown("language", language, self.languages))
        return self.tokenizers[language]

    def _check_length(self, ids: int) -> None:
        if ids > (most := self.tokenizers[SOURCE].model_max_length):
            raise BadInput(f"the text has {ids} ids; the model accepts at most {most}", self.folder)

    @cached_property
    def study(self) -> ModelStudy:
        return ModelStudy(self.folder)

    @property
    def identity(self) -> dict[str, Any]:
        """The configuration of the run that produced the checkpoint; empty if there is none."""
        return self.study.identity

    @property
    def data(self) -> Languages | None:
        return self.study.data

    def derive(self, sentence: str | Sequence[str], language: str = "") -> Derivation:
        """Derive a source sentence's counterpart in `language`. Raises BadInput if the language's transform
        needs more than words, such as a parse tree.

        >>> model.derive("Sara ate two apples .").links  # doctest: +SKIP
        [(0, 3), (1, 2), (2, 1), (3, 0), (4, 4)]
        """
        name, words = language or next(iter(self.languages[1:]), ""), words_of(sentence)
        if not (transform := self.study.transform(name)):
            raise BadInput(
                f"cannot derive in {name}: the study is missing, or the transform needs more than words"
            )
        image = image_of(transform, Sentence(words), 0, Account())
        mask = self.tokenizers[SOURCE].mask_token
        spelt = (word if word == mask else transform.spell(word) for word in image.words)
        return Derivation(name, words, tuple(spelt), image.origin, image.sources)

    def pairs(self, count: int = 100, language: str = "") -> list[Derivation]:
        """Return the first `count` sentences in the study's corpus that have a counterpart in `language`,
        each with its counterpart."""
        languages, language = self.study.derived(language)
        bitext = languages.bitext(SOURCE, language)
        return [self.pair_of(bitext, pair) for pair in range(min(count, len(bitext)))]

    def pair_of(self, bitext: Bitext, pair: int) -> Derivation:
        """Return sentence pair number `pair` in a bitext: a source sentence and its derivation."""
        own, other = bitext.lines[pair].tolist()
        ids, corpus = bitext.ids(pair), bitext.second.corpus
        source = self.spelt(SOURCE, ids[0], bitext.first.corpus.pieces[own])
        words = self.spelt(bitext.second.name, ids[1], corpus.pieces[other])
        return Derivation(bitext.second.name, source, words, *corpus.rendered(other))

    def spelt(self, language: str, ids: np.ndarray, pieces: np.ndarray) -> tuple[str, ...]:
        decode = self._tokenizer(language).decode
        return tuple(decode(word.tolist()).strip() for word in Ragged.of(ids, pieces))

    def alignment(self, language: str = "") -> dict[str, float]:
        """Return alignment@1 from the source to a derived language, for each group of types. Raises BadInput
        for a language in the source's script.

        >>> aligned = model.alignment()  # doctest: +SKIP
        >>> round(aligned["held-out"], 2), round(aligned["held-out-rotated"], 2)  # doctest: +SKIP
        (0.03, 0.49)
        """
        languages, language = self.study.derived(language)
        types = Types.between(languages, SOURCE, language)
        if not types.measurable:
            raise BadInput(f"{language} is in the source's script, so alignment@1 is undefined", self.folder)
        shares = alignment_of_model(self.model, types, controls=True).shares
        return {metric: share for metric, (share, _) in shares.items()}

    def finetune(
        self,
        task: str = "pos",
        language: str = "",
        progress: Callable[[int, int], None] = lambda step, steps: None,
    ) -> SourceTuned:
        """Fine-tune the model, with any changes made to it, on the source examples for one of the study's
        tagging tasks, with the study's settings. By default, the result's `score` measures zero-shot
        transfer.

        >>> tuned = model.finetune("pos")  # doctest: +SKIP
        >>> tuned.score().value < tuned.score(tuned.rows().source).value  # doctest: +SKIP
        True
        """
        languages, language = self.study.derived(language)
        data = measured_task(self.folder, task, languages, language)
        run = MeasuredModel(self.folder, self.folder.resolve().parent.name, language, self.identity["seed"])
        return train(run, data, progress, lambda model: [change(model) for change in self.changes])

    def states(self, sentences: Sequence[str | Sequence[str]], language: str = SOURCE) -> list[States]:
        """Return each sentence's hidden states, one vector per word: the mean over its sub-words.

        >>> pairs = model.pairs(2)  # doctest: +SKIP
        >>> derived = model.states([pair.words for pair in pairs], "trans.inv")  # doctest: +SKIP
        >>> derived[0].layers.shape, pairs[0].links[:2]  # doctest: +SKIP
        ((3, 9, 64), [(0, 7), (1, 6)])
        """
        texts = list(map(words_of, sentences))
        rows = [self.encoded(words, language) for words in texts]
        found: dict[int, States] = {}
        ids = [np.array(row) for row, _ in rows]
        for places, hidden in states(self.model, ids, self.token_type(language)):
            for i, place in enumerate(places):
                of = rows[place][1]
                means = [of @ layer[i, 1 : 1 + of.shape[1]] / of.sum(1, keepdim=True) for layer in hidden]
                found[place] = States(texts[place], torch.stack(means).numpy())
        return [found[place] for place in range(len(texts))]

    def encoded(self, words: Sequence[str], language: str) -> tuple[list[int], Tensor]:
        """Return the words' ids, enclosed in special ids, and a 0/1 matrix (words, non-special ids) that
        shows which ids belong to each word."""
        first, last = self.tokenizers[SOURCE]("")["input_ids"]
        pieces = self.pieces(words, language)
        word = torch.arange(len(words)).repeat_interleave(torch.tensor([len(ids) for ids in pieces]))
        self._check_length(len(word) + 2)
        return [first, *(i for ids in pieces for i in ids), last], F.one_hot(word, len(words)).float().T

    def changed(self, change: Callable[[Any], object]) -> Checkpoint:
        """Return a copy whose transformers model has been modified in place by `change`.

        >>> def without_first_head(model):  # doctest: +SKIP
        ...     model.roberta.encoder.layer[0].attention.output.dense.weight[:, :16] = 0
        >>> changed = model.changed(without_first_head)  # doctest: +SKIP
        >>> changed.fill("the <mask> .") == model.fill("the <mask> .")  # doctest: +SKIP
        False
        """
        model = deepcopy(self.model)
        with torch.no_grad():
            change(model)
        return replace(self, model=model, changes=(*self.changes, change))

    def rows(self, language: str = "") -> Rows:
        """Return the source and derived embeddings of the m words whose embedding differs in a derived
        language."""
        return Rows.of(self.model, *self.study.derived(language))

    def with_rows(self, rows: Tensor | np.ndarray, language: str = "") -> Checkpoint:
        """Return a copy with new embeddings (m, H) for a derived language's words, in the order of `rows()`.

        >>> model.with_rows(model.rows().source).alignment()["all"]  # doctest: +SKIP
        1.0
        """
        languages, language = self.study.derived(language)
        ids = languages[language].images[moved_types(languages, language)]
        return self.changed(partial(set_rows, ids=ids, rows=rows))

    def after_layer(self, layer: int, change: StateChange) -> Checkpoint:
        """Return a copy that applies a function to the states (B, ids, H) after a layer (0: to the
        embeddings).

        >>> centred = model.after_layer(1, lambda states: states - states.mean((0, 1)))  # doctest: +SKIP
        >>> centred.fill("the <mask> .") == model.fill("the <mask> .")  # doctest: +SKIP
        False
        """
        return self.changed(partial(hook_layer, layer=layer, change=change))

    def save(self, folder: Path | str) -> None:
        """Save the model to a new folder that `calque look` and transformers can open. On the copy, methods
        that need the study work if the folder is next to the run's `checkpoint`. Raises BadInput if a
        function is applied after a layer."""
        if any(getattr(change, "func", None) is hook_layer for change in self.changes):
            raise BadInput("cannot save a function applied after a layer, only changed weights", folder)
        if (folder := Path(folder)).exists() or self.folder.resolve() in folder.resolve().parents:
            raise BadInput("cannot save here: the folder exists, or is inside the model's folder", folder)
        model = self.model if self.has_head else architecture_of(self.model.config).encoder(self.model)
        with whole_folder(folder) as part:
            copytree(self.folder, part, ignore=ignore_patterns(*WEIGHTS), dirs_exist_ok=True)
            model.save_pretrained(part)
