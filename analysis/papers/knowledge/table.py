"""The table of what models know of facts that the source's corpus alone states."""

from __future__ import annotations

from analysis.records.record import BOTH, CARRIED, KNOWN
from analysis.report.table import MISSING, Table, cell, over_seeds
from analysis.results.measured import mean
from analysis.results.results import Results

COLUMNS = {
    "asked in the source": (KNOWN, "all"),
    "stated in both": (BOTH, "all"),
    "carried": (CARRIED, "all"),
    "of those known": (CARRIED, "known"),
    "answer seen": (CARRIED, "seen"),
    "answer held out": (CARRIED, "held-out"),
    "subject seen": (CARRIED, "subject-seen"),
    "subject held out": (CARRIED, "subject-held-out"),
    "chance": (CARRIED, "chance"),
    "null": (CARRIED, "null"),
    "null, 95 %": (CARRIED, "null-95"),
    "seen, null 95 %": (CARRIED, "seen-null-95"),
    "held out, null 95 %": (CARRIED, "held-out-null-95"),
}
"""Heads with the measure and the metric that stands below each."""


def knowledge_table(results: Results, scale: str) -> Table | None:
    """Accuracy over facts by objective and transform, in percent; None where no fact was asked for."""
    rows = []
    for objective in results.objectives:
        for transform in results.transforms:
            cells = [cell(mean(results.scores(m, objective, transform, "", metric))) for m, metric in COLUMNS.values()]
            if any(one != MISSING for one in cells):
                rows.append((results.objective_title(objective), results.transform_title(transform), *cells))
    if not rows:
        return None
    return Table(
        f"Facts that the source's text alone states, asked in either language, {scale}",
        ("objective", "transform", *COLUMNS),
        tuple(rows),
        "Accuracy in percent: the answer among all of its relation. Carried facts are stated in the source’s text "
        "alone and asked in the derived language; seen words are in the dictionary that some objectives are given, "
        "held-out ones are not. Of the null, answers are permuted among the questions of a relation, those "
        "with seen, or with held-out answers among themselves. "
        f"{over_seeds(results.seeds).capitalize()}. {MISSING}: not measured.",
        runs=results.run_ids((KNOWN, CARRIED, BOTH)),
        labels=2,
    )
