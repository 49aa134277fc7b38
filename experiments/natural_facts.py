"""Facts of a report on natural languages: the configuration of its models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.facts import computed_with, listed
from experiments.natural_values import NaturalValues
from experiments.step import Step
from experiments.steps.natural_measures import ZeroShot
from experiments.steps.pretraining import Pretrain

HEAD = "the prediction head alone, by the first objective that predicts, before anything else"


def natural_facts(
    study: NaturalValues, rows: int, runs: Sequence[Pretrain], measures: Sequence[Step]
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
    facts += _chosen(measures)
    machine = measures[0].open().facts["made with"]
    return [*facts, *computed_with(machine["threads"], machine["device"], ("scipy",))]


def _chosen(measures: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Which of several settings each model was fine-tuned with in the end, and what all came to on the dev sets."""
    for step in measures:
        if isinstance(step, ZeroShot) and len(step.configs) > 1:
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
