"""Measure the effects of interventions: changes, at test time, to a model fine-tuned on the source. Shapes: m
moved types (types in the corpus whose embedding differs in the derived language), d of them in the
dictionary, H width, B rows, L ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from calque.analysis.records.record import AFTER, RECOVERED, MeasuredModel, Measurement
from calque.analysis.tasks.finetune import finetune, longest_row
from calque.analysis.tasks.rows import UNLABELLED, Reader, TaskRow
from calque.analysis.tasks.score import Score
from calque.analysis.tasks.tagging import Tagging, tagged_words
from calque.analysis.tasks.task import EncodedSet, Split
from calque.analysis.tasks.transfer import DerivedTask
from calque.derive.dictionary import usual_tags
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages
from calque.pretrain.lazy import Tensor, inference_mode, no_grad, torch
from calque.pretrain.model import layers_of
from calque.pretrain.objectives.align_mlm import Rotation

NOTHING, COUNTERPART, ORDER, BOTH = "nothing", "counterpart", "order", "order and counterpart"
SAME_TAG, ANY_TAG, SHIFT = "word of the same tag", "word of any tag", "shift of the mean"
ROTATION, SHUFFLED, RANDOM_ORDER = "rotation", "rotation by shuffled pairs", "random order"
RANDOM_ROTATION = "random rotation"
# Fractions of the way to the counterpart's embedding
WAYS = {"a quarter of the way": 0.25, "half of the way": 0.5, "three quarters of the way": 0.75}
CONTROLS = {COUNTERPART: SAME_TAG, ROTATION: SHUFFLED, ORDER: RANDOM_ORDER}
PATCHED, OF_OTHERS = "states of layer ", "states of other words of layer "  # followed by a layer's number
NAMES = (
    *(NOTHING, COUNTERPART, SAME_TAG, ANY_TAG, ROTATION, SHUFFLED, RANDOM_ROTATION, SHIFT, *WAYS),
    *(ORDER, RANDOM_ORDER, BOTH, PATCHED, OF_OTHERS),
)
BATCH = 64  # rows
StateChange = Callable[["Tensor"], "Tensor | None"]


def control_of(intervention: str) -> str:
    """Return the name of an intervention's control, a comparable change that uses no translations, or "" if
    it has none."""
    if intervention.startswith(PATCHED):
        return OF_OTHERS + intervention.removeprefix(PATCHED)
    return CONTROLS.get(intervention, "")


@dataclass(frozen=True)
class Rows:
    """The moved types' embeddings in the `derived` language and in the `source`, (m, H) each, with the
    indices `known` (d,) of dictionary types and each type's most frequent training tag."""

    derived: Tensor
    source: Tensor
    known: np.ndarray
    tags: np.ndarray
    random: np.random.Generator = field(default_factory=partial(np.random.default_rng, 0))

    @classmethod
    def of(
        cls, model: Any, languages: Languages, language: str, tags: np.ndarray | None = None, seed: int = 0
    ) -> Self:
        """Read the embeddings from a model; `tags` (V,) contains every type's tag. Raises BadInput if there
        is no dictionary."""
        types, table = moved_types(languages, language), _table(model)
        ids = (languages[name].images[types] for name in (language, SOURCE))
        derived, source = (table[torch.from_numpy(images)] for images in ids)
        entries, tags = (
            known_types(languages, language),
            np.full(len(types), "") if tags is None else tags[types],
        )
        return cls(derived, source, entries, tags, np.random.default_rng(seed))

    @property
    def rank(self) -> int:
        """The number of dimensions (at most H) whose rotation the dictionary determines."""
        return self._rotation(self.known).rank

    def changes(self) -> Iterator[tuple[str, Tensor]]:
        """Yield each intervention's name and the new embeddings (m, H)."""
        yield COUNTERPART, self.source
        yield SAME_TAG, self._wrong_words(self.tags)
        yield ANY_TAG, self._wrong_words(np.zeros(len(self.tags)))
        yield ROTATION, self._rotation(self.known)(self.derived)
        yield SHUFFLED, self._rotation(self.random.permutation(self.known))(self.derived)
        noise = torch.from_numpy(self.random.standard_normal((self.derived.shape[1],) * 2))
        centre = self.derived.mean(0)
        yield RANDOM_ROTATION, (self.derived - centre) @ torch.linalg.qr(noise.to(centre))[0] + centre
        yield SHIFT, self.derived + (self.source.mean(0) - self.derived.mean(0))
        for name, share in WAYS.items():
            yield name, self.derived + share * (self.source - self.derived)

    def _wrong_words(self, groups: np.ndarray) -> Tensor:
        """Return, for each type, the source embedding of a different, random word in the same group."""
        order = np.arange(len(groups))
        for group in np.unique(groups):
            cycle = self.random.permutation(np.flatnonzero(groups == group))
            order[cycle] = np.roll(cycle, 1)
        return self.source[torch.from_numpy(order)]

    def _rotation(self, partners: np.ndarray) -> Rotation:
        """Fit a rotation of the embeddings of `partners` (d,) onto the source embeddings of `known`."""
        return Rotation.fit(
            self.derived[torch.from_numpy(partners)], self.source[torch.from_numpy(self.known)]
        )


def moved_types(languages: Languages, language: str) -> np.ndarray:
    """Return the source ids (m,) of the types whose embedding differs. Raises BadInput if there are no such
    types, or if a type has several embeddings."""
    derived, types = languages[language], languages.vocabulary.types
    if derived.single is not None or derived.places is not None:
        raise BadInput(f"a type has several embeddings in {language}; expected exactly one for each type")
    moved = types[derived.images[types] != languages[SOURCE].images[types]]
    if not len(moved):
        raise BadInput(f"{language} is in the source's script, so no embedding differs", languages.folder)
    return moved


def known_types(languages: Languages, language: str) -> np.ndarray:
    """Return the indices (d,) of the moved types that the dictionary contains."""
    images = languages[language].images[moved_types(languages, language)]
    indices = np.flatnonzero(np.isin(images, languages.dictionary(SOURCE, language)[:, 1]))
    if not len(indices):
        raise BadInput(f"the dictionary has no pairs for {language}, which rotations need", languages.folder)
    return indices


def not_changed(languages: Languages, language: str) -> str:
    """Return the reason why interventions cannot be applied to a language, or "" if they can."""
    try:
        known_types(languages, language)
    except BadInput as error:
        return str(error)
    return ""


def _table(model: Any) -> Tensor:
    return model.get_input_embeddings().weight.detach()


def hook_layer(model: Any, layer: int, change: StateChange) -> Any:
    """Apply `change` to the states (B, L, H) after a layer (0: the embeddings), and return the hook. If
    `change` returns None, the states stay as they are."""
    modules = [model.base_model.embeddings, *layers_of(model)]
    if not 0 <= layer < len(modules):
        raise BadInput(f"there is no layer {layer}: layers run from 0 (the embeddings) to {len(modules) - 1}")

    def hook(module: Any, inputs: Any, output: Any) -> Any:
        states = output[0] if isinstance(output, tuple) else output
        changed = change(states)
        if changed is None:
            return output
        return (changed, *output[1:]) if isinstance(output, tuple) else changed

    return modules[layer].register_forward_hook(hook, prepend=True)  # runs before transformers records states


@no_grad
def set_rows(model: Any, ids: np.ndarray, rows: Tensor | np.ndarray) -> None:
    """Replace the word embeddings of `ids` (n,) with `rows` (n, H)."""
    expected = len(ids), model.config.hidden_size
    if tuple(rows.shape) != expected:
        raise BadInput(f"the new embeddings have the shape {tuple(rows.shape)}; expected {expected}")
    table = _table(model)
    table[torch.from_numpy(ids)] = torch.as_tensor(rows).to(table)


@contextmanager
def other_rows(model: Any, ids: np.ndarray, rows: Tensor) -> Iterator[None]:
    """Replace word embeddings until the `with` block ends."""
    original = _table(model)[torch.from_numpy(ids)].clone()
    set_rows(model, ids, rows)
    try:
        yield
    finally:
        set_rows(model, ids, original)


class SourceTuned:
    """A model fine-tuned on a tagging task's source examples, after `prepare` has changed it. Changes passed
    to a method affect only the score it returns."""

    def __init__(
        self,
        run: MeasuredModel,
        data: DerivedTask,
        progress: Callable[[int, int], None] = lambda step, steps: None,
        prepare: Callable[[Any], object] = lambda model: None,
    ) -> None:
        if not isinstance(data.task, Tagging):
            raise BadInput(f"interventions need a task that labels every word, not {data.task.name}")
        self.task, self.run, self.languages, self.language = data.task, run, data.languages, run.language
        self.types = moved_types(self.languages, self.language)  # source ids, (m,)
        source, self.images = (self.languages[name].images[self.types] for name in (SOURCE, self.language))
        self._image_of = dict(zip(source.tolist(), self.images.tolist(), strict=True))
        readers = {name: Reader.of(self.languages, name) for name in (SOURCE, self.language)}
        self.train = Split(data.examples.path("train"), self.task, reader=readers[SOURCE])
        self.tests = {
            name: Split(data.examples.path("test", name), self.task, reader=reader)
            for name, reader in readers.items()
        }
        self.labels, self.length = self.task.labels(self.train.gold), longest_row(run.checkpoint, data.config)
        rows, labels = self.train.encode(self.labels, self.length).labelled().rows, len(self.labels)
        self.tuned = finetune(run, rows, self.task.head, labels, data.config, progress, prepare)

    def rows(self, seed: int = 0) -> Rows:
        """Return the moved types' embeddings after fine-tuning, for use with `score`; `seed` determines the
        random changes."""
        tags = usual_tags(tagged_words(self.train), self.languages.vocabulary)
        return Rows.of(self.tuned.model, self.languages, self.language, tags, seed)

    def score(
        self,
        rows: Tensor | None = None,
        of_source: bool = False,
        random_order: np.random.Generator | None = None,
    ) -> Score:
        """Return the main metric on the derived test set, with new embeddings `rows` (m, H) or words in
        random order. With `of_source`, score source sentences written with derived words instead."""
        test = self.tests[self.language]
        if of_source:
            test = replace(self.tests[SOURCE], reader=test.reader)
        encoded = test.encode(self.labels, self.length)
        orders = [word_order(row, random_order) for row in encoded.rows]
        moved = [replace(row, ids=row.ids[order]) for row, order in zip(encoded.rows, orders, strict=True)]
        with nullcontext() if rows is None else other_rows(self.tuned.model, self.images, rows):
            answers = zip(self.tuned.answers(moved), orders, strict=True)
        return self._scored(test, encoded, [answer[np.argsort(order)] for answer, order in answers])

    def patched(self, layer: int, random: np.random.Generator | None = None) -> Score:
        """Return the main metric when each word's state after a layer is replaced with that of its
        counterpart in the source sentence or, with `random`, of a random word. Words that occur more than
        once keep their state."""
        test = self.tests[self.language]
        derived, source = (split.encode(self.labels, self.length) for split in (test, self.tests[SOURCE]))
        partners, answers = list[TaskRow](), list[np.ndarray]()
        for rows, source_rows in zip(derived.examples, source.examples, strict=True):
            partners += source_rows if len(rows) == len(source_rows) == 1 else rows
        pairs = list(zip(derived.rows, partners, strict=True))
        for first in range(0, len(pairs), BATCH):
            answers += self._patched(layer, pairs[first : first + BATCH], random)
        return self._scored(test, derived, answers)

    @inference_mode
    def _patched(
        self, layer: int, pairs: Sequence[tuple[TaskRow, TaskRow]], random: np.random.Generator | None
    ) -> list[np.ndarray]:
        """Return the head's answers for rows with states of their partners (a row itself: no change)."""
        batch, targets, sources = list[int](), list[int](), list[int]()
        for number, (row, partner) in enumerate(pairs):
            if row is not partner:
                positions, counterparts = self._counterparts(row, partner)
                batch += [number] * len(positions)
                targets += positions
                sources += counterparts if random is None else random.permutation(counterparts).tolist()
        partner_states = list[Tensor]()

        def patch(states: Tensor) -> Tensor:
            states = states.clone()
            states[batch, targets] = partner_states[0][batch, sources]
            return states

        self.tuned.model.eval()
        rows, partners = zip(*pairs, strict=True)
        with hook_layer(self.tuned.model, layer, partner_states.append):
            self.tuned.logits(partners)
        with hook_layer(self.tuned.model, layer, patch):
            logits = self.tuned.logits(rows)
        return list(self.tuned.head.answers(logits).cpu().numpy())

    def _counterparts(self, derived: TaskRow, source: TaskRow) -> tuple[list[int], list[int]]:
        """For the ids that occur exactly once in each row, return their positions and their counterparts'
        positions."""
        ids, images = derived.ids.tolist(), [self._image_of.get(i, i) for i in source.ids.tolist()]
        shared = sorted(set(ids[1:-1]) & set(images[1:-1]))
        unique_ids = [i for i in shared if ids.count(i) == images.count(i) == 1]
        return list(map(ids.index, unique_ids)), list(map(images.index, unique_ids))

    def _scored(self, test: Split, encoded: EncodedSet, answers: Sequence[np.ndarray]) -> Score:
        """Return the main metric for the head's answers."""
        predicted = test.decode(encoded, answers, self.labels)
        return self.task.scores(test.gold, predicted)[self.task.primary]


def word_order(row: TaskRow, random: np.random.Generator | None) -> np.ndarray:
    """Return a row's positions (L,) in reading order, with the words shuffled if `random` is given."""
    places = np.arange(len(row.ids))
    starts = np.flatnonzero(row.targets != UNLABELLED)  # a word is labelled at its first sub-word
    if random is None or not len(starts):
        return places
    before, *words = np.split(places[:-1], starts)
    return np.concatenate([before, *(words[i] for i in random.permutation(len(words))), places[-1:]])


def interventions(tuned: SourceTuned) -> Measurement:
    """Measure a tagging task's main metric after each intervention, and how much of the loss in transfer is
    recovered by restoring the source's words, its order, or both."""
    run, metric, about = tuned.run, tuned.task.primary, {"task": tuned.task.name}
    scores = dict(_after_interventions(tuned, run.seed))
    records = [
        run.record("ZS", f"{metric}{AFTER}{name}", score.value, score.count, items=score.items, **about)
        for name, score in scores.items()
    ]
    nothing, changes = scores[NOTHING], {"words": COUNTERPART, "order": ORDER, "both": BOTH}
    parts = {name: scores[change].value - nothing.value for name, change in changes.items()}
    parts["interaction"] = parts["both"] - parts["words"] - parts["order"]
    records += [run.record(RECOVERED, name, value, nothing.count, **about) for name, value in parts.items()]
    return Measurement(tuple(records))


def _after_interventions(tuned: SourceTuned, seed: int) -> Iterator[tuple[str, Score]]:
    random, rows, model = partial(np.random.default_rng, seed), tuned.rows(seed), tuned.tuned.model
    yield NOTHING, tuned.score()
    for name, embeddings in rows.changes():
        yield name, tuned.score(embeddings)
    yield ORDER, tuned.score(of_source=True)
    yield RANDOM_ORDER, tuned.score(random_order=random())
    yield BOTH, tuned.score(rows.source, of_source=True)
    for layer in range(1, model.config.num_hidden_layers + 1):
        yield f"{PATCHED}{layer}", tuned.patched(layer)
        yield f"{OF_OTHERS}{layer}", tuned.patched(layer, random())
