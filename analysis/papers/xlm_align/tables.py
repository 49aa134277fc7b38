"""Which initialisation makes self-labelling work: labels, alignment and transfer of every objective, in one table."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.xlm_align.ablations import ablation_tables
from analysis.records.record import AER, ALIGNMENT, LABELS
from analysis.report.pos_units import units_note
from analysis.report.retained_cell import NOTE, retained_cell
from analysis.report.table import MISSING, Table, cell, over_seeds
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.results.retained import retained
from analysis.tasks.catalog import PRIMARY, metric_title, task_title


def starts_table(results: Results, scale: str) -> Table:
    """Precision of self-made labels, alignment@1, contextual AER and Delta, a row for each objective and transform."""
    layers = [(layer, joint) for joint in (False, True) for layer in results.layers(AER)]
    tasks = [task for task in PRIMARY if task in results.tasks]
    looked = [
        (LABELS, "precision", "labels right"),
        (LABELS, "share", "words labelled"),
        (ALIGNMENT, "all", "alignment@1 all"),
        (ALIGNMENT, "held-out", "alignment@1 held-out"),
    ]
    floored = tasks if results.floors.all else []
    rows = []
    for transform in results.transforms:
        for objective in results.objectives:
            values = [results.scores(measure, objective, transform, "", metric) for measure, metric, _ in looked]
            values += [
                results.scores(AER, objective, transform, "", "aer", layer=layer, joint=joint)
                for layer, joint in layers
            ]
            values += [results.deltas(objective, transform, task, PRIMARY[task]) for task in tasks]
            kept = [retained_cell(retained(results, objective, transform, task, PRIMARY[task])) for task in floored]
            if any(values):
                names = results.objective_title(objective), results.transform_title(transform)
                rows.append((*names, *map(cell, map(mean, values)), *kept))
    return Table(
        f"Alignment by objective and start, {scale}",
        (
            "objective",
            "transform",
            *(title for _, _, title in looked),
            *(f"AER layer {layer}{', joint' * joint}" for layer, joint in layers),
            *(f"{task_title(task)} {metric_title(PRIMARY[task])} Δ" for task in tasks),
            *(f"{task_title(task)} {metric_title(PRIMARY[task])} retained" for task in floored),
        ),
        tuple(rows),
        f"Percent; {over_seeds(results.seeds, results.redrawn)}. AER: of links that optimal transport finds in "
        "hidden states, 0 is perfect; each sentence encoded alone, or (joint) both as one row, where a model with "
        "language embeddings sees positions that it did not learn with. Labels: those of the last steps, against the "
        "gold alignment. After: half of the steps are the other objective’s. "
        + units_note(results.records, tasks)
        + (f"{NOTE} " if floored else "")
        + f"{MISSING}: not measured.",
        runs=results.run_ids(),
        labels=2,
    )


def xlm_align_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Every table of a study of XLM-Align, by the name of its file."""
    yield "starts", starts_table(results, scale)
    yield from ablation_tables(results, scale)
