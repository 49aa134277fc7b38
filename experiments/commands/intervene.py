"""`calque intervene`: the effects of changes to a model at test time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from calque.analysis.measures.interventions import SourceTuned
    from calque.analysis.statistics.intervals import Estimate

WIDTH, LABEL = 80, 37  # widths, in characters, of a line and of an intervention's name
HEADS = {"score": 13, "change": 13, "beyond control": 17}  # column headings and widths
NOTE = (
    "Percent, with 95 % intervals over this model's test items; seeds differ by more. Change: the "
    "difference from no intervention. Indented: the control for the line above, a comparable change that "
    "uses no translations. A rotation is fitted on {pairs} dictionary pairs."
)


def intervene(
    checkpoint: Annotated[Path, typer.Argument(help="A run's `checkpoint` folder, in its study's folder.")],
    task: Annotated[str, typer.Option(metavar="NAME", help="A tagging task in the model's study.")] = "pos",
    language: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The derived language to test in. Default: the first one."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Change input words, word order or hidden states at test time.

    The model is first fine-tuned on the source language."""
    from calque.analysis.checkpoint import Checkpoint
    from calque.experiments.run.progress import board

    model = Checkpoint.open(checkpoint)
    rows = model.rows(language or "")
    pairs, width = len(rows.known), rows.source.shape[1]
    if rows.rank < width:
        typer.echo(
            f"calque: {pairs} dictionary pairs fix only {rows.rank} of the rotation's {width} dimensions",
            err=True,
        )
    with board(quiet=as_json) as shown:
        tuned = model.finetune(task, language or "", partial(shown.report, f"fine-tuning on {task}"))
    effects = _effects(tuned)
    if as_json:
        about = {"task": task, "metric": tuned.task.primary, "language": tuned.language}
        rotation = {"pairs": pairs, "rank": rows.rank, "width": width}
        typer.echo(json.dumps({**about, "rotation": rotation, "interventions": list(_plain(effects))}))
    else:
        typer.echo("\n".join(_lines(tuned, effects, pairs)))


def _effects(tuned: SourceTuned) -> dict[str, Sequence[Estimate | None]]:
    """Return each intervention's score, its change from the score without intervention, and its difference
    from the control."""
    from calque.analysis.measures.interventions import interventions
    from calque.analysis.papers.align_mlm import effect
    from calque.analysis.records.record import AFTER
    from calque.analysis.results.measured import Measured

    found = {
        name: {tuned.run.seed: Measured.of(record)}
        for record in interventions(tuned).records
        if (name := record.metric.partition(AFTER)[2])
    }
    return {name: effect(found.__getitem__, name) for name in found}


def _lines(tuned: SourceTuned, effects: Mapping[str, Sequence[Estimate | None]], pairs: int) -> Iterator[str]:
    from calque.analysis.measures.interventions import control_of
    from calque.analysis.report.table import cell
    from calque.analysis.tasks.catalog import metric_title

    metric = metric_title(tuned.task.primary)
    yield f"{tuned.task.title} {metric} in {tuned.language}, after changes at test time"
    yield ""
    yield "intervention".ljust(LABEL) + "".join(map(str.rjust, HEADS, HEADS.values()))
    controls = {control_of(name) for name in effects}
    for name, estimates in effects.items():
        cells = [cell(each, over_items=True) if each else "" for each in estimates]
        label = f"  {name}" if name in controls else name
        yield (label.ljust(LABEL) + "".join(map(str.rjust, cells, HEADS.values()))).rstrip()
    yield from ("", *wrap(NOTE.format(pairs=pairs), WIDTH))


def _plain(effects: Mapping[str, Sequence[Estimate | None]]) -> Iterator[dict[str, Any]]:
    from calque.analysis.measures.interventions import control_of

    for name, estimates in effects.items():
        numbers = (
            {"mean": each.mean, "low": each.low, "high": each.high} if each else None for each in estimates
        )
        yield {"name": name, "control": control_of(name), **dict(zip(HEADS, numbers, strict=True))}
