"""What is attacked: a finished folder, or a file, and everything that a reader gets from it.

Each is read as the steps and commands read it, so that an attack on a byte that nobody reads is found harmless, and one
that changes a number is not.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file

from calque.derive.files import MANIFEST
from calque.derive.language import SOURCE
from calque.derive.languages import Languages
from calque.derive.links.stored import StoredLinks
from calque.derive.task_data import TaskFolder
from calque.derive.workers import silent
from calque.experiments.languages import DerivedLanguages, GoldText, NaturalText
from calque.experiments.measures import read_measured
from calque.experiments.models import EstimatedLinks, Training
from calque.experiments.schedule import do
from calque.experiments.step import Machine, Step
from calque.experiments.tasks import DerivedExamples, Floors, NaturalExamples, read_floors
from calque.pretrain.checkpoint import METRICS, SNAPSHOTS, snapshots_of
from calque.pretrain.run import CHECKPOINT, RESUME, read_metrics
from calque.pretrain.saved_model import load_model, load_tokenizer

TIMED = ("tokens/s", "mfu")
"""What of a row of metrics says how fast the machine was."""


class MadeAgain(Exception):
    """The artefact does not count as finished, so the next command makes it again."""


@dataclass(frozen=True)
class Target:
    """An artefact of some `kind`: its `folder`, or the one file of it that is `only` attacked, and its reader.

    Whether one is in the place of another cannot be told of a folder that a user may have `renamed`.
    """

    kind: str
    folder: Path
    reader: Callable[[], Any]
    only: str = ""
    renamed: bool = False

    @property
    def files(self) -> list[Path]:
        """The files that may be attacked, without those of other artefacts in the folder."""
        if self.only:
            return [path for path in [self.folder / self.only] if path.is_file()]
        inner = [path.parent for path in self.folder.rglob(MANIFEST) if path.parent != self.folder]
        inner = [path for path in inner if path.parent.name != RESUME]
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return [path for path in files if not any(path.is_relative_to(other) for other in inner)]

    def read(self) -> str:
        """A digest of what a reader gets.

        Raises:
            BadInput: it is refused.
            MadeAgain: it is not finished.
        """
        digest = hashlib.sha256()
        _feed(digest, self.reader())
        return digest.hexdigest()


def targets_of(study: str, steps: Sequence[Step]) -> Iterator[Target]:
    """The folders of a study's steps."""
    for step in steps:
        yield Target(_kind(study, step), step.folder, _reader(step))


def stopped(study: str, steps: Sequence[Step]) -> Iterator[Target]:
    """The folders of a study's runs after they were stopped in the middle; what is read is what they resume to."""
    runs = [step for step in steps if isinstance(step.config, Training)]
    needed = {need.folder for run in runs for need in run.needs}
    for run in runs:
        if run.folder not in needed:
            yield Target(f"state, {_kind(study, run)}", run.folder, lambda run=run: _resumed(run))  # type: ignore[misc]


def _kind(study: str, step: Step) -> str:
    if isinstance(step.config, Training):
        objective = step.config.objective.name.partition("-after-")[0]
        return f"run, {objective}" if study == "pocket" else f"run, {study}"
    return f"{step.kind}, {study}"


def _reader(step: Step) -> Callable[[], Any]:
    if isinstance(step.config, DerivedLanguages | NaturalText | GoldText):
        return lambda: _languages(step)
    if isinstance(step.config, DerivedExamples | NaturalExamples):
        return lambda: _examples(step)
    if isinstance(step.config, Training):
        return lambda: _run(step)
    if isinstance(step.config, EstimatedLinks):
        return lambda: _links(step)
    if isinstance(step.config, Floors):
        return lambda: read_floors(_finished(step))
    return lambda: _measured(step)


def _measured(step: Step) -> Any:
    found = read_measured(_finished(step))
    return found.records, found.exclusions, found.runs


def _finished(step: Step) -> Step:
    if not step.finished:
        raise MadeAgain
    return step


def _languages(step: Step) -> Iterator[Any]:
    _finished(step).check(silent)
    natural = isinstance(step.config, NaturalText)
    there = step.open().facts["languages"]
    languages = Languages.open(step.folder, [name for name in there if name != SOURCE])
    yield languages.vocabulary.types, languages.identity(*there), languages.specials
    for language in languages.languages:
        corpus = language.corpus
        yield language.name, language.table, language.places, language.rows, corpus.tokens, corpus.lines
        yield corpus.words, corpus.pieces, corpus.origin, corpus.source_line
        yield None if natural or language.name == SOURCE else languages.letters(language.name)
    for pair in languages.dictionaries:
        yield pair, languages.dictionary(*pair)
    for bitext in languages.bitexts:
        yield bitext.names, *(ids for pair in range(len(bitext)) for ids in bitext.ids(pair))


def _examples(step: Step) -> Iterator[Any]:
    _finished(step).check(silent)
    examples = TaskFolder.open(step.folder)
    for name in examples.artefact.digests:
        if name.endswith(".jsonl"):
            split, _, language = name.removesuffix(".jsonl").partition(".")
            yield list(examples.examples(split, language or SOURCE))


def _run(step: Step) -> Iterator[Any]:
    made = _finished(step).open()
    yield made.facts["shown"], made.facts["left out"], _rows(made.path(METRICS))
    yield load_model(step.folder / CHECKPOINT)[0].state_dict()
    yield load_tokenizer(step.folder / CHECKPOINT)("Sara ate two apples .")["input_ids"]
    if step.config.train.snapshots:
        yield {name: load_file(made.path(name)) for name in snapshots_of(made).values()}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in TIMED} for row in read_metrics(path)]


def _links(step: Step) -> Iterator[Any]:
    _finished(step).check(silent)
    pair = StoredLinks.open(step.folder).facts["pair"]
    languages = Languages.open(step.config.data.folder, [name for name in pair if name != SOURCE])
    bitext = languages.with_links(step.folder).bitext(*pair)
    yield pair, *(bitext.links(number) for number in range(len(bitext)))


def _resumed(run: Step) -> Iterator[Any]:
    do(run, Machine())
    yield load_model(run.folder / CHECKPOINT)[0].state_dict()
    yield [load_file(path) for path in sorted((run.folder / SNAPSHOTS).glob("*"))]
    yield _rows(run.folder / METRICS)


def _feed(digest: Any, value: Any) -> None:
    """Add a value to a digest: arrays and tensors by their bytes, what holds others by its items."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for key, item in value.items():
            digest.update(repr(key).encode())
            _feed(digest, item)
    elif isinstance(value, Iterator | list | tuple):
        for item in value:
            _feed(digest, item)
    else:
        digest.update(repr(value).encode())
