"""The steps that make data of natural languages: their text with bitexts, and a task's annotated files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from analysis.tasks.catalog import task
from analysis.tasks.split import Split, check
from analysis.tasks.translated import check_translations
from derive.errors import BadInput, NoFile
from derive.folder import FORMAT
from derive.language import SOURCE
from derive.natural.bitext import BitextFiles
from derive.natural.build import Bitexts, Rows, Texts, derive_natural, natural_fingerprint
from derive.natural.text import TextFiles
from derive.natural.withheld import Without
from derive.source import SPLITS
from derive.sources.files import TaskFiles
from derive.task_data import FORMAT as TASK_FORMAT
from derive.task_data import KIND as TASK_KIND
from derive.task_data import TaskFolder, natural_task_fingerprint, write_natural_task
from derive.vocabulary import GivenVocabulary
from experiments.progress import Report
from experiments.step import Machine, Stage, Step
from experiments.steps.languages import LanguagesStep


@dataclass(frozen=True)
class NaturalText(LanguagesStep):
    """Text of natural languages and bitexts between them, with a given vocabulary.

    Bitexts are named as `en-fr`. What `withheld` holds, a sentence a line or a tree, is left out of both. Models have
    rows of the types that occur, or of all, as `table` says; `types` is how many the tokenizer has, for plans before it
    is there. `dictionaries` are lexicons of words by bitext.
    """

    home: Path
    texts: Mapping[str, TextFiles]
    bitexts: Mapping[str, tuple[BitextFiles, ...]]
    vocabulary: GivenVocabulary
    withheld: TextFiles | None
    table: Rows = "used"
    types: int = 0
    dictionaries: Mapping[str, Path] = field(default_factory=dict)

    format: ClassVar[int] = FORMAT
    spreads: ClassVar[bool] = True

    @property
    def place(self) -> Path:
        return self.home / "languages"

    @property
    def title(self) -> str:
        return "text and bitexts"

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        made = natural_fingerprint(self._texts, self._bitexts, self.vocabulary, self.table, self._dictionaries)
        return {"languages": made}

    @cached_property
    def rows(self) -> int:
        """Rows of a model's table: those of types that occur, or, before the text was read, of all."""
        if self.types and not self.vocabulary.folder.exists():
            return self.types
        if self.table == "used" and self._read:
            return int(self.open().facts["vocabulary"]["rows"])
        return self.vocabulary.open().size

    @property
    def _read(self) -> bool:
        """Whether the text was read; while some of it is missing, it was not."""
        try:
            return self.finished
        except NoFile:
            return False

    def language(self, name: str) -> str:
        return f"{self.fingerprint}/{name}"

    def order_of(self, names: Sequence[str]) -> dict[str, Any]:
        return {}  # each language's fingerprint is that of all in their order

    def pairs_of(self, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        return tuple(pair for pair in map(pair_of, self.bitexts) if set(pair) <= set(names))

    def __call__(self, machine: Machine) -> None:
        derive_natural(
            self._texts,
            self._bitexts,
            self.vocabulary,
            self.folder,
            machine.workers,
            machine.report,
            self.table,
            self._dictionaries,
        )

    @cached_property
    def _texts(self) -> Texts:
        return {name: self._kept(files) for name, files in self.texts.items()}

    @cached_property
    def _bitexts(self) -> Bitexts:
        return {pair_of(name): tuple(map(self._kept, parts)) for name, parts in self.bitexts.items()}

    @property
    def _dictionaries(self) -> dict[tuple[str, str], Path]:
        return {pair_of(name): path for name, path in self.dictionaries.items()}

    def _kept(self, files: TextFiles | BitextFiles) -> TextFiles | BitextFiles | Without:
        return Without(files, self.withheld) if self.withheld else files


def pair_of(name: str) -> tuple[str, str]:
    """The two languages of a bitext's name."""
    first, _, second = name.partition("-")
    return first, second


@dataclass(frozen=True)
class NaturalTask(Step):
    """The examples of a task in one language, test sets in others, and translations of what is learnt from.

    `sizes` are how many of the training examples a learning curve asks for: fewer than there are. `source` is what the
    language of `files` is called.
    """

    home: Path
    task: str
    files: TaskFiles
    tests: Mapping[str, tuple[Path, ...]]
    devs: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    translations: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    source: str = ""

    stage: ClassVar[Stage] = "derive"
    kind: ClassVar[str] = TASK_KIND
    format: ClassVar[int] = TASK_FORMAT

    @property
    def place(self) -> Path:
        return self.home / "tasks" / self.task

    @property
    def title(self) -> str:
        return f"examples of {self.task}"

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        data = task(self.task).data
        return {
            "examples": natural_task_fingerprint(
                data, self.files, self.tests, self.devs, self.translations, self.source
            )
        }

    def __call__(self, machine: Machine) -> None:
        machine.report(self.title, 0, 1)
        data = task(self.task).data
        write_natural_task(data, self.files, self.tests, self.folder, self.devs, self.translations, self.source)
        self.check(machine.report)
        machine.report(self.title, 1, 1)

    def check(self, report: Report) -> None:
        """Find damaged examples, and labels and metrics that scoring would fail on, before anything is trained."""
        examples, its = TaskFolder.open(self.folder), task(self.task)
        sets = {(split, SOURCE): Split(examples.path(split), its, self.files.of_split(split)) for split in SPLITS}
        for split, files in (("test", self.tests), ("dev", self.devs), ("train", self.translations)):
            for name, paths in files.items():
                sets[split, name] = Split(examples.path(split, name), its.in_language(name), paths)
        check(sets["train", SOURCE], sets.values())
        for name in self.translations:
            check_translations(sets["train", SOURCE], sets["train", name])
        there = examples.artefact.facts["splits"]["train"]["examples"]
        if self.sizes and max(self.sizes) >= there:
            raise BadInput(
                f"tasks.{self.task}.sizes: {max(self.sizes):,} of {there:,} training examples; expected fewer, as all "
                "of them are learnt from too"
            )
