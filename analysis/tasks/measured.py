"""How a study fine-tuned a checkpoint on a task: the settings, from the measurement next to it, and the
examples."""

from __future__ import annotations

from pathlib import Path

from calque.analysis.tasks.catalog import task
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.analysis.tasks.transfer import DerivedTask
from calque.derive.artefact import Artefact, finished
from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.task_data import TaskFolder

RECORDS = "records"  # the kind of a measurement


def measured_task(checkpoint: Path, name: str, languages: Languages, language: str) -> DerivedTask:
    """A task of the study that trained a checkpoint, with the examples and settings that it was measured
    with. Raises BadInput if it was not measured, or in several ways, or if the examples are gone."""
    of, run, ways = task(name), checkpoint.resolve().parent, list[tuple[FinetuneConfig, str]]()
    for folder in (folder for folder in sorted(run.glob(f"{name}-*")) if finished(folder)):
        measure, _, settings, *_ = Artefact.open(folder, RECORDS).facts["made from"]
        if measure == name and isinstance(settings["examples"], dict) and language in settings["examples"]:
            values = {key: value for key, value in settings["finetune"].items() if key != "kind"}
            ways.append((FinetuneConfig(**values), settings["examples"][language]))
    if not ways:
        raise BadInput(f"no measurement {name}-* in {language}: the study never fine-tuned this model on {name}", run)
    if len({*ways}) > 1:
        raise BadInput(f"measurements {name}-* with {len({*ways})} settings or sets of examples; expected one", run)
    config, wanted = ways[0]
    for folder in sorted(languages.folder.parent.glob(f"tasks/{name}-*")):
        facts = (examples := TaskFolder.open(folder)).artefact.facts
        if wanted in (facts["fingerprint"], facts.get("fingerprints", {}).get(language)):
            return DerivedTask(of, languages, examples, config)
    raise BadInput(f"no folder tasks/{name}-* has the examples of this model's measurement", languages.folder.parent)
