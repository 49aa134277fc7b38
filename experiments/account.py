"""What came in, what went out, and why the rest did not: the account that every derivation ends with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.errors import BadInput
from derive.files import MANIFEST
from derive.task_data import TaskFolder

if TYPE_CHECKING:
    from experiments.steps.pretraining import Pretrain

TORN = "more entities than before: the new order tore some apart, and each piece is one"


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a finished folder.

    Raises:
        BadInput: there is none, or it is damaged.
    """
    path = folder / MANIFEST
    try:
        made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"not the manifest of a finished stage: {error}", path) from error
    return made


def of_languages(data: Path) -> Iterator[str]:
    """Sentences and words in and out of a study's languages, a line each."""
    derived = manifest(data)
    for language, counts in derived["languages"].items():
        came, went = counts["in"], counts["out"]
        yield (
            f"{language}: {came['sentences']:,} sentences and {came['words']:,} words in, {went['sentences']:,} and "
            f"{went['words']:,} out; order distance {counts['order distance']:.2f}"
        )
        for why, count in counts["left out"].items():
            yield f"{language}: {count:,} {why}"
        for why, count in counts.get("kept in place", {}).items():
            yield f"{language}: {count:,} {why} kept their order"
        if counts["spans split"]:
            yield f"{language}: {counts['spans split']:,} {TORN}"
    unseen, rare = derived["vocabulary"]["unseen types"], derived["vocabulary"]["rare words not trained on"]
    yield f"vocabulary: {unseen:,} types never occur in the corpus; dictionary and alignment@1 leave them out"
    if rare:
        yield f"vocabulary: {rare:,} occurrences of rare words were not learnt from; they are encoded all the same"


def of_task(folder: Path) -> Iterator[str]:
    """Examples of a task that were left out, or whose images differ in more than their order, a line each."""
    about = TaskFolder.open(folder).artefact.facts
    for split, counts in about["splits"].items():
        where = f"{about['task']}, {split}"
        for why, count in counts["left out"].items():
            yield f"{where}: {count:,} {why}"
        for language, derived in counts["languages"].items():
            if derived["examples without an image"]:
                yield f"{where}, {language}: {derived['examples without an image']:,} examples without an image"
            if derived["spans split"]:
                yield f"{where}, {language}: {derived['spans split']:,} {TORN}"
            for why, count in derived["kept in place"].items():
                yield f"{where}, {language}: {count:,} {why}"


def of_pretraining(runs: Iterable[Pretrain]) -> Iterator[str]:
    """What of the corpora no pretraining instance shows, by objective."""
    left_out = {
        (run.objective.name, why, count) for run in runs for why, count in manifest(run.folder)["left out"].items()
    }
    for objective, why, count in sorted(left_out):
        if count:
            yield f"{objective}: {count:,} {why}"
