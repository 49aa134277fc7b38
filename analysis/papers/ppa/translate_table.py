"""What translate-train and code-switched pairs add to fine-tuning on the source, after PPA (section 4)."""

from __future__ import annotations

from analysis.records.record import SWITCHED, TRANSLATED
from analysis.report.table import MISSING, Table, cell, over_seeds
from analysis.results.measured import difference, mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

WAYS = ("ZS", TRANSLATED, SWITCHED, "SUP")
NOTE = (
    "Tested in the derived language. ZS: fine-tuned on the source. TT (translate-train): on the source’s examples and "
    "on those derived of them. TT-CS: also on the pairs whose first text is in one language and whose second in the "
    "other. SUP: on the derived examples alone."
)


def translate_table(results: Results, scale: str) -> Table | None:
    """A row for each objective, transform and task in which models were fine-tuned on both languages; None without."""
    known = {record.task for record in results.records if record.measure in (TRANSLATED, SWITCHED)}
    rows: list[tuple[str, ...]] = []
    for task in (task for task in results.tasks if task in known):
        metric = PRIMARY[task]
        for transform in results.transforms:
            for objective in results.objectives:
                scores = [results.scores(way, objective, transform, task, metric) for way in WAYS]
                if not any(scores[1:3]):
                    continue
                gains = (difference(scores[1], scores[0]), difference(scores[2], scores[1]))
                names = (results.objective_title(objective), results.transform_title(transform))
                what = f"{task_title(task)} {metric_title(metric)}"
                rows.append((*names, what, *(cell(mean(values)) for values in scores), *map(cell, gains)))
    if not rows:
        return None
    return Table(
        f"Translate-train and code-switched pairs, percent, {scale}",
        ("objective", "transform", "task", *WAYS, f"{TRANSLATED} − ZS", f"{SWITCHED} − {TRANSLATED}"),
        tuple(rows),
        f"{NOTE} {MISSING}: not measured. {over_seeds(results.seeds, results.redrawn)}.",
        runs=results.run_ids((TRANSLATED, SWITCHED)),
        labels=3,
    )
