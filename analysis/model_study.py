"""Find the study that trained a model, with its configuration, languages and tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from calque.analysis.tasks.catalog import task
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.analysis.tasks.transfer import DerivedTask
from calque.derive.artefact import Artefact, finished, whole_of
from calque.derive.errors import BadInput, unknown
from calque.derive.fingerprint import plain
from calque.derive.folder import LanguagesFolder
from calque.derive.language import SOURCE
from calque.derive.languages import Languages
from calque.derive.sentence import Sentence
from calque.derive.task_data import TaskFolder
from calque.derive.transform import Transform
from calque.derive.transforms import transform
from calque.pretrain.run import TRAINED_ON
from calque.pretrain.saved_model import RUN


@dataclass(frozen=True)
class Derivation:
    """A source sentence and its counterpart in a derived language: `words`, each with its source position in
    `origin`."""

    language: str
    source: tuple[str, ...]
    words: tuple[str, ...]
    origin: tuple[int, ...]
    sources: tuple[tuple[int, ...], ...] = ()  # as in `Sentence`

    @property
    def links(self) -> list[tuple[int, int]]:
        """The sorted gold links: (position in the source, position in the derivation)."""
        return Sentence(self.words, origin=self.origin, sources=self.sources).links


@dataclass(frozen=True)
class ModelStudy:
    """The study whose folder contains a model. For a model outside a study, `identity` is empty and `data` is
    None."""

    folder: Path

    @cached_property
    def _run(self) -> dict[str, Any]:
        run = whole_of(self.folder, RUN)
        return run.facts if run else {}

    @cached_property
    def identity(self) -> dict[str, Any]:
        return self._run.get("identity", {})

    @cached_property
    def data(self) -> Languages | None:
        """The languages that the run was trained on, or None if no parent folder contains them."""
        trained_on = str(self._run.get(TRAINED_ON, ""))  # other folders may contain the same text
        for above in self.folder.resolve().parents if self.identity else ():
            for folder in sorted(above.glob("languages-*"), key=lambda each: (each.name != trained_on, each)):
                known = LanguagesFolder.open(folder).prints if finished(folder) else {}
                if all(value in known.get(name, ()) for name, value in self.identity["data"].items()):
                    return Languages.open(folder, self.identity["languages"], whole=True)
        return None

    def derived(self, language: str = "") -> tuple[Languages, str]:
        """Return the study's languages and the name of a derived language (default: the first)."""
        if self.data is None:
            raise BadInput("no parent folder contains the languages the model was trained on", self.folder)
        derived = self.data.others if self.data.languages[0].name == SOURCE else ()
        if not derived:
            raise BadInput("the model was not trained on a source language and derived ones", self.folder)
        if language not in ("", *derived):
            raise BadInput(unknown("derived language", language, derived), self.folder)
        return self.data, language or derived[0]

    def transform(self, name: str) -> Transform | None:
        """Return a language's transform, or None if it is unknown or needs more than words."""
        if self.data is None:
            return None
        config = LanguagesFolder.open(self.data.folder).artefact.facts["config"]["transforms"]
        try:
            drawn = [transform(name).reseeded(seed) for seed in (0, self.identity["seed"])]
        except BadInput:  # a user-defined transform
            return None
        return next((each for each in drawn if plain(each) in config and not each.needs), None)


def words_of(sentence: str | Sequence[str]) -> tuple[str, ...]:
    """Return a sentence's words; a string is split at spaces."""
    return tuple(sentence.split() if isinstance(sentence, str) else sentence)


RECORDS = "records"  # the artefact kind of a measurement


def measured_task(checkpoint: Path, name: str, languages: Languages, language: str) -> DerivedTask:
    """Return a task with the examples and settings that the study used to measure this checkpoint. Raises
    BadInput if they are missing or ambiguous."""
    of, run, ways = task(name), checkpoint.resolve().parent, list[tuple[FinetuneConfig, str]]()
    for folder in (folder for folder in sorted(run.glob(f"{name}-*")) if finished(folder)):
        measure, _, settings, *_ = Artefact.open(folder, RECORDS).facts["made from"]
        if measure == name and isinstance(settings["examples"], dict) and language in settings["examples"]:
            values = {key: value for key, value in settings["finetune"].items() if key != "kind"}
            ways.append((FinetuneConfig(**values), settings["examples"][language]))
    if not ways:
        raise BadInput(
            f"the study never fine-tuned this model on {name} in {language}: no folder {name}-*", run
        )
    if len({*ways}) > 1:
        raise BadInput(
            f"the measurements {name}-* used {len({*ways})} settings or example sets; expected one", run
        )
    config, wanted = ways[0]
    for folder in sorted(languages.folder.parent.glob(f"tasks/{name}-*")):
        facts = (examples := TaskFolder.open(folder)).artefact.facts
        if wanted in (facts["fingerprint"], facts.get("fingerprints", {}).get(language)):
            return DerivedTask(of, languages, examples, config)
    raise BadInput(
        f"no folder tasks/{name}-* contains the examples of this model's measurement", languages.folder.parent
    )
