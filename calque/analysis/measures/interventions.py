"""Measure the effects of interventions: changes, at test time, to a model fine-tuned on the source. Shapes: m
moved types (types of the corpus with two embeddings), d of them in the dictionary, H width, L ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from calque.analysis.records.record import AFTER, RECOVERED, MeasuredModel, Measurement
from calque.analysis.tasks.catalogue import Tagging, tagged_words
from calque.analysis.tasks.score import Score
from calque.analysis.tasks.task import TaskRow
from calque.analysis.tasks.transfer import DerivedTask, TaskModel
from calque.derive.dictionary import usual_tags
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.objectives.dictionary import Rotation

NOTHING, COUNTERPART, ORDER, BOTH = "nothing", "counterpart", "order", "order and counterpart"
SAME_TAG, ANY_TAG = "word of the same tag", "word of any tag"
ROTATION, SHUFFLED, RANDOM_ORDER = "rotation", "rotation by shuffled pairs", "random order"
NAMES = NOTHING, COUNTERPART, SAME_TAG, ANY_TAG, ROTATION, SHUFFLED, ORDER, RANDOM_ORDER, BOTH
CONTROLS = {COUNTERPART: SAME_TAG, ROTATION: SHUFFLED, ORDER: RANDOM_ORDER}
"""Comparable changes that use no translations."""
# Committed records also contain changes to hidden states and others that are no longer measured.
CONTROLS |= {f"states of layer {i}": f"states of other words of layer {i}" for i in (1, 2)}


@dataclass(frozen=True)
class Rows:
    """The moved types' embeddings in the `derived` language and the `source`, (m, H) each, their ids in the
    derived language, (m,), most frequent tags, and the indices `known` (d,) of dictionary types."""

    derived: Tensor
    source: Tensor
    known: np.ndarray
    tags: np.ndarray
    ids: np.ndarray
    random: np.random.Generator

    @classmethod
    def of(
        cls, model: Any, languages: Languages, language: str, tags: np.ndarray | None = None, seed: int = 0
    ) -> Self:
        """Read the embeddings from a model, given types' tags (V,). Raises BadInput if there are none."""
        types, ids, known = moved_types(languages, language)
        sides = ids, languages[SOURCE].images[types]
        derived, source = (_table(model)[torch.from_numpy(side)] for side in sides)
        tags_of = np.full(len(types), "") if tags is None else tags[types]
        return cls(derived, source, known, tags_of, ids, np.random.default_rng(seed))

    def changes(self) -> Iterator[tuple[str, Tensor]]:
        """Yield each intervention's name and the new embeddings (m, H)."""
        yield NOTHING, self.derived
        yield COUNTERPART, self.source
        yield SAME_TAG, self._wrong_words(self.tags)
        yield ANY_TAG, self._wrong_words(np.zeros(len(self.tags)))
        targets = self.source[torch.from_numpy(self.known)]
        for name, partners in ((ROTATION, self.known), (SHUFFLED, self.random.permutation(self.known))):
            yield name, Rotation.fit(self.derived[torch.from_numpy(partners)], targets)(self.derived)

    def _wrong_words(self, groups: np.ndarray) -> Tensor:
        """Return, for each type, the source embedding of a different, random word in the same group."""
        order = np.arange(len(groups))
        for group in np.unique(groups):
            cycle = self.random.permutation(np.flatnonzero(groups == group))
            order[cycle] = np.roll(cycle, 1)
        return self.source[torch.from_numpy(order)]


def moved_types(languages: Languages, language: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the types whose embedding differs, as source types and as ids in the language, (m,) each, and
    the indices (d,) of those in the dictionary. Raises BadInput if interventions do not apply."""
    derived, types = languages[language], languages.vocabulary.types
    if derived.single is not None:
        raise BadInput(f"a type has several embeddings in {language}; expected exactly one for each type")
    moved = types[derived.images[types] != languages[SOURCE].images[types]]
    if not len(moved):
        raise BadInput(f"{language} is in the source's script, so no embedding differs", languages.folder)
    ids = derived.images[moved]
    known = np.flatnonzero(np.isin(ids, languages.dictionary(SOURCE, language)[:, 1]))
    if not len(known):
        raise BadInput(f"the dictionary has no pairs for {language}, which rotations need", languages.folder)
    return moved, ids, known


def not_changed(languages: Languages, language: str) -> str:
    """Return the reason why interventions cannot be applied to a language, or "" if they can."""
    try:
        moved_types(languages, language)
    except BadInput as error:
        return str(error)
    return ""


def _table(model: Any) -> Tensor:
    return model.get_input_embeddings().weight.detach()


@contextmanager
def other_rows(model: Any, ids: np.ndarray, rows: Tensor | np.ndarray) -> Iterator[None]:
    """Replace the word embeddings of `ids` (n,) with `rows` (n, H) until the `with` block ends."""
    table, places = _table(model), torch.from_numpy(ids)
    if rows.shape != (expected := (len(ids), table.shape[1])):
        raise BadInput(f"the new embeddings have the shape {tuple(rows.shape)}; expected {expected}")
    original = table[places].clone()
    table[places] = torch.as_tensor(rows).detach().to(table)
    try:
        yield
    finally:
        table[places] = original


class SourceTuned:
    """A model fine-tuned on a tagging task's source examples. Methods do not change the model."""

    def __init__(
        self,
        run: MeasuredModel,
        data: DerivedTask,
        progress: Callable[[int, int], None] = lambda step, steps: None,
    ) -> None:
        if not isinstance(data.task, Tagging):
            raise BadInput(f"interventions need a task that labels every word, not {data.task.name}")
        self.run, self.data, self.train = run, data, data.split("train", SOURCE)
        _, self.ids, _ = moved_types(data.languages, run.language)
        self.tuned = TaskModel(run, self.train, data.task.labels(self.train.gold), data.config, progress)

    def rows(self, seed: int = 0) -> Rows:
        """Return the moved types' embeddings after fine-tuning; `seed` determines random changes."""
        tags = usual_tags(tagged_words(self.train), self.data.languages.vocabulary)
        return Rows.of(self.tuned.finetuned.model, self.data.languages, self.run.language, tags, seed)

    def score(
        self,
        rows: Tensor | None = None,
        of_source: bool = False,
        random_order: np.random.Generator | None = None,
    ) -> Score:
        """Return the main metric on the derived test set, with new embeddings `rows` (m, H) or words in
        random order. With `of_source`, score source sentences written with derived words instead."""
        test = self.data.split("test", self.run.language)
        if of_source:
            test = replace(self.data.split("test", SOURCE), reader=test.reader)
        answers_of = None if random_order is None else partial(self._in_random_order, random_order)
        with nullcontext() if rows is None else other_rows(self.tuned.finetuned.model, self.ids, rows):
            return self.tuned.test(test, answers_of=answers_of)[0][self.data.task.primary]

    def _in_random_order(self, random: np.random.Generator, rows: Sequence[TaskRow]) -> list[np.ndarray]:
        orders = [word_order(row, random) for row in rows]
        moved = [replace(row, ids=row.ids[order]) for row, order in zip(rows, orders, strict=True)]
        outputs = zip(self.tuned.finetuned.answers(moved), orders, strict=True)
        return [output[np.argsort(order)] for output, order in outputs]


def word_order(row: TaskRow, random: np.random.Generator) -> np.ndarray:
    """Return a row's positions (L,) with the words in random order."""
    starts = np.flatnonzero(row.targets != UNLABELLED)  # a word is labelled at its first sub-word
    before, *words, end = np.split(np.arange(len(row.ids)), [*starts, len(row.ids) - 1])
    return np.concatenate([before, *(words[i] for i in random.permutation(len(words))), end])


def interventions(tuned: SourceTuned) -> Measurement:
    """Measure a task's main metric after interventions, and the gain from the source's words and order."""
    run, metric, about = tuned.run, tuned.data.task.primary, {"task": tuned.data.task.name}
    rows = tuned.rows(run.seed)
    scores = {name: tuned.score(embeddings) for name, embeddings in rows.changes()}
    scores[ORDER] = tuned.score(of_source=True)
    scores[RANDOM_ORDER] = tuned.score(random_order=np.random.default_rng(run.seed))
    scores[BOTH] = tuned.score(rows.source, of_source=True)
    records = [
        run.record("ZS", f"{metric}{AFTER}{name}", score.value, score.count, items=score.items, **about)
        for name, score in scores.items()
    ]
    nothing, changes = scores[NOTHING], {"words": COUNTERPART, "order": ORDER, "both": BOTH}
    parts = {name: scores[change].value - nothing.value for name, change in changes.items()}
    parts["interaction"] = parts["both"] - parts["words"] - parts["order"]
    records += [run.record(RECOVERED, name, value, nothing.count, **about) for name, value in parts.items()]
    return Measurement(tuple(records))
