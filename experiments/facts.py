"""Facts of a report: values by their names, the configuration of models, and what computed them."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.natural_values import NaturalValues
    from experiments.step import Step
    from experiments.steps.natural_measures import ZeroShot
    from experiments.steps.pretraining import Pretrain

LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy")


def listed(values: Mapping[str, Any]) -> str:
    """`layers 2, heads 4`; of which kind the values are goes without saying."""
    return ", ".join(f"{key} {value}" for key, value in values.items() if key != "kind")


def counted(number: int, one: str) -> str:
    """`1 model`, `12 models`."""
    return f"{number:,} {one}" if number == 1 else f"{number:,} {one}s"


def computed_with(threads: int, device: str = "", more: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The machine, and the versions of libraries; `more` are needed beside those that every study needs."""
    parts = (platform.machine(), device, f"{threads} thread(s) a model")
    return [
        ("Machine", ", ".join(filter(None, parts))),
        ("Libraries", ", ".join(f"{name} {version(name)}" for name in (*LIBRARIES, *more))),
    ]


HEAD = "the prediction head alone, by the first objective that predicts, before anything else"


def natural_facts(
    study: NaturalValues, rows: int, runs: Sequence[Pretrain], measures: Sequence[Step], tuned: Sequence[ZeroShot]
) -> list[tuple[str, str]]:
    """Titles and values: the start, training (a table has `rows`), fine-tuning, and what it was computed with."""
    start = f"{study.begun.checkpoint.name}, {study.begun.fingerprint} (fingerprint of its files)"
    facts = [("Start", start), ("Seeds", ", ".join(map(str, study.seeds)))]
    if runs:
        facts += _of_pretraining(study, rows, runs)
    for name, its in study.tasks.items():
        grid = (("learning rates", its.learning_rates), ("batches", its.batches), ("epochs", its.epochs))
        tried = "".join(f"; {what} tried: {', '.join(map(str, values))}" for what, values in grid if values)
        facts.append((f"Fine-tuning, {name}", listed(vars(its.finetune)) + tried))
    facts += _chosen(tuned)
    machine = measures[0].open().facts["made with"]
    return [*facts, *computed_with(machine["threads"], machine["device"], ("scipy",))]


def _chosen(tuned: Sequence[ZeroShot]) -> Iterator[tuple[str, str]]:
    """Which of several settings each model was fine-tuned with in the end, and what all came to on the dev sets."""
    for step in tuned:
        if len(step.configs) > 1:
            settings = [vars(config) for config in step.configs]
            tried = [name for name in settings[0] if len({each[name] for each in settings}) > 1]
            facts = step.open().facts
            taken = listed({name: settings[facts["chosen"]][name] for name in tried})
            dev = ", ".join(f"{100 * value:.1f}" for value in facts["dev"])
            yield f"Chosen, {step.title}", f"{taken}; the settings’ means over the dev sets, percent: {dev}"


def _of_pretraining(study: NaturalValues, rows: int, runs: Sequence[Pretrain]) -> list[tuple[str, str]]:
    """Facts of the training; what was shown is that of the first model of each objective, alike for all seeds."""
    identity = runs[0].open().facts["identity"]
    shown = {
        f"Shown, {run.objective.name}": ", ".join(
            f"{name} {part['rows']:,} rows" for name, part in run.open().facts["shown"].items() if part["rows"]
        )
        for run in reversed(runs)
    }
    head = f"{listed(study.head.recipe)}; {HEAD}" if study.head else "drawn where the start has none"
    which = "those that occur" if study.table == "used" else "all"
    return [
        ("Model", listed(identity["model"])),
        ("Rows of its table", f"{rows:,} of the tokenizer's types: {which}"),
        ("Prediction head", head),
        ("Training", listed(identity["train"])),
        ("Mixture", study.mixture.title),
        *reversed(shown.items()),
    ]
