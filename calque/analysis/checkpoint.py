"""Inspect a checkpoint in memory, with its study's languages and tasks, and make copies with changed weights.
Shapes: n words in a sentence, L layers, H hidden, m types whose embedding differs in a derived language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calque.analysis.aligners.encoder import states_by_row
from calque.analysis.measures.alignment import Types, alignment_of_model, cosine
from calque.analysis.measures.interventions import Rows, SourceTuned, moved_types, set_rows
from calque.analysis.records.record import MeasuredModel
from calque.analysis.tasks.catalogue import task as task_called
from calque.analysis.tasks.finetune_config import FinetuneConfig
from calque.analysis.tasks.transfer import DerivedTask
from calque.derive.artefact import Artefact, finished, whole_of
from calque.derive.corpus import Ragged
from calque.derive.errors import BadInput, unknown
from calque.derive.fingerprint import plain
from calque.derive.languages import SOURCE, Bitext, Languages, fingerprints, open_folder
from calque.derive.sentence import Sentence
from calque.derive.task_data import TaskFolder
from calque.derive.transform import Account, Transform, image_of
from calque.derive.transforms import transform as transform_called
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.model import has_languages
from calque.pretrain.run import TRAINED_ON
from calque.pretrain.saved_model import RUN, check_own_types, has_head, load_model, load_tokenizer
from calque.pretrain.saved_tokenizer import TOKENIZERS

RECORDS = "records"  # the artefact kind of a measurement


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
    """A sentence's words and their states (L + 1, n, H) after the embeddings and each layer."""

    words: tuple[str, ...]
    layers: np.ndarray


class Derivation(NamedTuple):
    """A source sentence and its counterpart in a derived language. `words` contains the counterpart's words,
    and `origin` each word's position in the source. `links` are the sorted gold links: (position in the
    source, position in the derivation)."""

    language: str
    source: tuple[str, ...]
    words: tuple[str, ...]
    origin: tuple[int, ...]
    links: list[tuple[int, int]]


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
        """Open a checkpoint's folder. Raises BadInput if it is missing, or if a tokenizer belongs to a
        different model."""
        model, _ = load_model(folder, with_head=True)
        trained = _facts(folder).get("identity", {}).get("languages", ())
        spelt = [path.name for path in sorted((folder / TOKENIZERS).glob("*")) if path.is_dir()]
        numbered, tokenizers = tuple(dict.fromkeys([SOURCE, *trained, *spelt])), {}
        for name in numbered:
            place = folder if name == SOURCE else folder / TOKENIZERS / name
            if place.is_dir():
                check_own_types(place, int(model.config.vocab_size), model.config.pad_token_id)
                tokenizers[name] = load_tokenizer(place)
        return cls(folder, model.eval(), tokenizers, numbered)

    @property
    def languages(self) -> tuple[str, ...]:
        """The source language and the derived languages with a tokenizer, in training order."""
        return tuple(self.tokenizers)

    def fill(self, text: str, language: str = SOURCE, count: int = 5) -> list[Guess]:
        """Return the `count` most probable types, from any language, for the single `<mask>` in a text."""
        guesses = self.fill_all(text, language, count)
        if len(guesses) != 1:
            mask = self._tokenizer(language).mask_token
            raise BadInput(f"the text contains {len(guesses)} masks; expected exactly one {mask}")
        return guesses[0]

    def fill_all(self, text: str, language: str, count: int) -> list[list[Guess]]:
        """Return the `count` most probable types for each mask in a text."""
        if not self.has_head:
            raise BadInput("the model has no prediction head, so it cannot fill masks", self.folder)
        tokenizer = self._tokenizer(language)
        rows = torch.tensor([tokenizer(text)["input_ids"]])
        self._check_length(rows.shape[1])
        types = torch.full_like(rows, self.token_type(language))
        with torch.inference_mode():
            scores = self.model(input_ids=rows, token_type_ids=types if types.any() else None).logits[0]
        filled = []
        for probabilities in scores[rows[0] == tokenizer.mask_token_id].softmax(-1):
            best = probabilities.topk(min(count, len(probabilities)))
            pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
            filled.append([Guess(*self.name(i), probability) for probability, i in pairs])
        return filled

    def nearest(
        self, word: str, language: str = SOURCE, among: str | None = None, count: int = 5
    ) -> list[Neighbour]:
        """Return the `count` types in the language `among` (default: all languages) whose embeddings are most
        similar to that of `word`, which must be a single type in `language`."""
        if not self.is_type(word, language):
            raise BadInput(f"{word!r} is not a single type in the vocabulary of {language}")
        ((type_id,),) = self.pieces([word], language)
        cosines = cosine(self._table, self._table[[type_id]])[:, 0].numpy()
        searched = [among] if among else self.languages
        allowed = np.unique(np.concatenate([self.ids(name) for name in searched]))
        order = allowed[np.argsort(-cosines[allowed], kind="stable")]
        return [Neighbour(*self.name(i), float(cosines[i])) for i in order[order != type_id][:count].tolist()]

    def pieces(self, words: Sequence[str], language: str = SOURCE) -> list[list[int]]:
        """Return each word's ids, encoded as in the middle of a sentence."""
        tokenizer = self._tokenizer(language)
        spaced = (word if word == tokenizer.mask_token else f" {word}" for word in words)
        return [tokenizer(word, add_special_tokens=False)["input_ids"] for word in spaced]

    def is_type(self, word: str, language: str) -> bool:
        """Whether a word is a single type in a language, and not a special one."""
        (ids,) = self.pieces([word], language)
        return len(ids) == 1 and ids[0] not in self.tokenizers[language].all_special_ids

    def embeddings(self, language: str = SOURCE) -> tuple[list[str], np.ndarray]:
        """Return a language's types, in its spelling, and their embeddings (types, width)."""
        ids = self.ids(language)
        return [self.name(i)[0] for i in ids.tolist()], self._table[torch.from_numpy(ids)].numpy()

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
        return self.numbered.index(language) if has_languages(self.model.config.type_vocab_size) else 0

    @cached_property
    def has_head(self) -> bool:
        """Whether the checkpoint contains a prediction head."""
        return has_head(self.folder)

    @property
    def _table(self) -> Tensor:
        return self.model.get_input_embeddings().weight.detach()

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

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The configuration of the run that produced the checkpoint; empty if no run is recorded."""
        return _facts(self.folder).get("identity", {})

    @cached_property
    def data(self) -> Languages | None:
        """The languages that the model was trained on, or None if no parent folder contains them."""
        if not self.identity:
            return None
        original = str(_facts(self.folder).get(TRAINED_ON, ""))
        for parent in self.folder.resolve().parents:
            # Several folders may contain the same text.
            for folder in sorted(parent.glob("languages-*"), key=lambda path: (path.name != original, path)):
                digests = fingerprints(folder) if finished(folder) else {}
                if all(value in digests.get(name, ()) for name, value in self.identity["data"].items()):
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
            raise BadInput("the model was not trained on a source and languages derived from it", self.folder)
        if language not in ("", *self.derived):
            raise BadInput(unknown("derived language", language, self.derived), self.folder)
        return self.data, language or self.derived[0]

    def derive(self, sentence: str | Sequence[str], language: str = "") -> Derivation:
        """Derive a source sentence's counterpart in `language`. Raises BadInput if the language's transform
        needs more input than words, such as a parse tree.

        >>> model.derive("Sara ate two apples .").links  # doctest: +SKIP
        [(0, 3), (1, 2), (2, 1), (3, 0), (4, 4)]
        """
        languages, name = self._derived(language)
        words, transform = words_of(sentence), self._transform(languages, name)
        image = image_of(transform, Sentence(words), 0, Account())
        mask = self.tokenizers[SOURCE].mask_token
        spelt = (word if word == mask else transform.spell(word) for word in image.words)
        return Derivation(name, words, tuple(spelt), image.origin, image.links)

    def _transform(self, languages: Languages, name: str) -> Transform:
        if not (config := open_folder(languages.folder).facts.get("config")):
            raise BadInput(f"cannot derive text in {name}: no transform derived it")
        for seed in (0, self.identity["seed"]):
            transform = transform_called(name).reseeded(seed)
            if plain(transform) in config["transforms"] and not transform.needs:
                return transform
        raise BadInput(f"cannot derive text in {name}: its transform needs more than words")

    def pairs(self, count: int = 100, language: str = "") -> list[Derivation]:
        """Return the first `count` sentences of the study's corpus with their derivations."""
        languages, language = self._derived(language)
        bitext = languages.bitext(SOURCE, language)
        return [self.pair_of(bitext, pair) for pair in range(min(count, len(bitext)))]

    def pair_of(self, bitext: Bitext, pair: int) -> Derivation:
        """Return a pair of sentences in a bitext as a derivation."""
        source_line, target_line = bitext.lines[pair].tolist()
        ids, corpus = bitext.ids(pair), bitext.second.corpus
        source = self.spelt(SOURCE, ids[0], bitext.first.corpus.pieces[source_line])
        words = self.spelt(bitext.second.name, ids[1], corpus.pieces[target_line])
        origin, links = corpus.origin[target_line].tolist(), [(i, j) for i, j in bitext.links(pair).tolist()]
        return Derivation(bitext.second.name, source, words, tuple(origin), links)

    def spelt(self, language: str, ids: np.ndarray, pieces: np.ndarray) -> tuple[str, ...]:
        """Decode a sentence's words; `pieces` contains the number of ids in each."""
        decode = self._tokenizer(language).decode
        return tuple(decode(word.tolist()).strip() for word in Ragged.of(ids, pieces))

    def alignment(self, language: str = "") -> dict[str, float]:
        """Return alignment@1 from the source to a derived language, for each group of types. Raises BadInput
        for a language that uses the source's script.

        >>> aligned = model.alignment()  # doctest: +SKIP
        >>> round(aligned["held-out"], 2), round(aligned["held-out-rotated"], 2)  # doctest: +SKIP
        (0.03, 0.49)
        """
        languages, language = self._derived(language)
        types = Types.of(languages, language)
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
        """Fine-tune the model, including any changes made to it, on the source examples of one of the study's
        tagging tasks, with the study's settings. By default, the result's `score` measures zero-shot
        transfer.

        >>> tuned = model.finetune("pos")  # doctest: +SKIP
        >>> tuned.score().value < tuned.score(tuned.rows().source).value  # doctest: +SKIP
        True
        """
        languages, language = self._derived(language)
        data = measured_task(self.folder, task, languages, language)
        run = MeasuredModel(self.folder, self.folder.resolve().parent.name, language, self.identity["seed"])
        return SourceTuned(run, data, progress, lambda model: [change(model) for change in self.changes])

    def states(self, sentences: Sequence[str | Sequence[str]], language: str = SOURCE) -> list[States]:
        """Return each sentence's hidden states, one vector per word: the mean over its sub-words.

        >>> pairs = model.pairs(2)  # doctest: +SKIP
        >>> derived = model.states([pair.words for pair in pairs], "trans.inv")  # doctest: +SKIP
        >>> derived[0].layers.shape, pairs[0].links[:2]  # doctest: +SKIP
        ((3, 9, 64), [(0, 7), (1, 6)])
        """
        first, last = self.tokenizers[SOURCE]("")["input_ids"]
        texts = list(map(words_of, sentences))
        pieces = [self.pieces(words, language) for words in texts]
        if not all(words and all(words) for words in pieces):
            raise BadInput("a sentence has no words, or a word has no sub-words")
        rows = [np.array([first, *chain.from_iterable(words), last]) for words in pieces]
        self._check_length(max(map(len, rows), default=0))
        states = dict[int, States]()
        for place, hidden in states_by_row(self.model, rows, self.token_type(language)):
            words = hidden[:, 1:-1].split(list(map(len, pieces[place])), dim=1)
            means = torch.stack([word.mean(1) for word in words], dim=1)
            states[place] = States(texts[place], means.numpy())
        return [states[place] for place in range(len(texts))]

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
        """Return the source and derived embeddings of the m words whose embedding differs."""
        return Rows.of(self.model, *self._derived(language))

    def with_rows(self, rows: Tensor | np.ndarray, language: str = "") -> Checkpoint:
        """Return a copy with new embeddings (m, H) for a derived language's words, in the order of `rows()`.

        >>> model.with_rows(model.rows().source).alignment()["all"]  # doctest: +SKIP
        1.0
        """
        _, ids, _ = moved_types(*self._derived(language))
        return self.changed(partial(set_rows, ids=ids, rows=rows))


def words_of(sentence: str | Sequence[str]) -> tuple[str, ...]:
    """Return a sentence's words; a string is split at spaces."""
    return tuple(sentence.split() if isinstance(sentence, str) else sentence)


def _facts(checkpoint: Path) -> dict[str, Any]:
    """Return the manifest facts of a checkpoint's run; empty if there is none."""
    run = whole_of(checkpoint, RUN)
    return run.facts if run else {}


def measured_task(checkpoint: Path, name: str, languages: Languages, language: str) -> DerivedTask:
    """Return a task with the study's examples and settings. Raises BadInput if they are missing or
    ambiguous."""
    task, run, configs = task_called(name), checkpoint.resolve().parent, set[tuple[FinetuneConfig, str]]()
    for folder in filter(finished, run.glob(f"{name}-*")):
        measure, _, settings, *_ = Artefact.open(folder, RECORDS).facts["made from"]
        if measure == name and isinstance(settings["examples"], dict) and language in settings["examples"]:
            values = {key: value for key, value in settings["finetune"].items() if key != "kind"}
            configs.add((FinetuneConfig(**values), settings["examples"][language]))
    if len(configs) != 1:
        expected = f"expected one way of fine-tuning this model on {name} in {language}, in folders {name}-*"
        raise BadInput(f"{expected}; found {len(configs)}", run)
    ((config, fingerprint),) = configs
    home = languages.folder.parent
    for folder in sorted(home.glob(f"tasks/{name}-*")):
        facts = (examples := TaskFolder.open(folder)).artefact.facts
        if fingerprint in (facts["fingerprint"], facts.get("fingerprints", {}).get(language)):
            return DerivedTask(task, languages, examples, config)
    raise BadInput(f"no folder tasks/{name}-* contains the examples of this model's measurement", home)
