"""Tables 3 to 7 of XLM-Align: ablations of the objective's parts and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.papers.xlm_align.variants import after, changes, plain_mlm, usual_start, variant
from analysis.records.record import AER, LABELS, Published, Record
from analysis.report.pos_units import units_note
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, over_seeds, percent
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

DEFAULT = ""
"""The setting that the papers' tables compare with: all of XLM-Align as it is."""
TABLES = {
    3: ("The parts of XLM-Align", (DEFAULT, "without DWA", "without TLM", "without DWA, without TLM")),
    4: ("The layer that labels itself", (DEFAULT, "self-labelling layer 8", "self-labelling layer 12")),
    5: ("The layer that learns denoising word alignment", ("DWA layer 8", "DWA layer 10", "DWA layer 12")),
    6: ("Filtering of the self-labelled links", (DEFAULT, "without filtering")),
    7: ("The positions that query", (DEFAULT, "queries unmasked", "queries all-aligned", "without DWA")),
}
SWITCHED: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "without DWA": {"queries": "none"},
    "without TLM": {"tlm": False},
    "without filtering": {"filtering": False},
    "queries unmasked": {"queries": "unmasked"},
    "queries all-aligned": {"queries": "all-aligned"},
}
"""What a setting switches; layers are not in it, for a small model has others."""
NEITHER = "without DWA, without TLM"
LAYERS = {4: ("label_layer", "self-labelling layer"), 5: ("layer", "DWA layer")}
"""The switch that a table of layers turns, and what it calls it."""
TASKS = ("nli", "ner", "pos", "qa")
"""The paper's."""


@dataclass(frozen=True)
class Setting:
    """A row of a table: as the paper calls it, as it is here, and where."""

    table: int
    name: str
    objective: str
    transform: str


def settings(results: Results) -> list[Setting]:
    """Every setting of which the records have an objective, our own layers among them.

    A table that would say no more than XLM-Align itself, or than Table 3, is left out.
    """
    start, chosen = usual_start(results), list[Setting]()
    for table, (_, printed) in TABLES.items():
        rows = {
            name: plain_mlm(results, start) if name == NEITHER else variant(results, start, **SWITCHED[name])
            for name in dict.fromkeys((DEFAULT, *printed))
            if name == NEITHER or name in SWITCHED
        }
        if table in LAYERS:
            switch, word = LAYERS[table]
            for layer in _layers(results, switch):
                rows[f"{word} {layer}, of ours"] = variant(results, start, **{switch: layer})
        chosen += [
            Setting(table, name, objective, transform)
            for transform in results.transforms
            for name, objective in rows.items()
            if objective is not None
        ]
    names = {table: {s.name for s in chosen if s.table == table} for table in TABLES}
    repeated = {table for table in TABLES if names[table] <= ({DEFAULT} if table == 3 else names[3] | {DEFAULT})}
    return [setting for setting in chosen if setting.table not in repeated]


def ablation_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Tables 3 to 7 with the paper's rows below ours: zero-shot scores, and what the alignment is like."""
    shown_settings = settings(results)
    head = [f"{task_title(task)} {metric_title(PRIMARY[task])} ZS" for task in TASKS]
    for table, (title, names) in TABLES.items():
        ours = [setting for setting in shown_settings if setting.table == table]
        if not ours:
            continue
        rows = [
            (
                s.name or "XLM-Align",
                results.transform_title(s.transform),
                OURS,
                *_scores(results, s),
                *_links(results, s),
            )
            for s in ours
        ]
        theirs = {p.setting: p for p in published_in(results, table)}
        first = len(rows)
        rows += [
            (name or "XLM-Align", "XTREME", PUBLISHED, *_printed(results, table, name), MISSING, MISSING)
            for name in names
            if name in theirs
        ]
        yield (
            f"table-{table}",
            Table(
                f"Table {table} of XLM-Align: {title[0].lower()}{title[1:]}, {scale}",
                ("setting", "languages", "source", *head, "AER, last layer", "precision of labels"),
                tuple(rows),
                _note(results),
                frozenset(range(first, len(rows))),
                tuple(sorted({r.run for r in records_of(results, ours)})),
                labels=3,
            ),
        )


def top_layer(results: Results) -> int | None:
    """The last layer that AER was measured at."""
    return max(results.layers(AER), default=None)


def errors(results: Results, objective: str, transform: str) -> BySeed:
    """AER of the last layer, each side encoded alone."""
    return results.scores(AER, objective, transform, "", "aer", layer=top_layer(results))


def _layers(results: Results, switch: str) -> list[int]:
    """The layers that variants name."""
    switched = (changes(results.objective(name)) or {} for name in results.objectives)
    return sorted({variant_switches[switch] for variant_switches in switched if switch in variant_switches})


def _scores(results: Results, s: Setting) -> tuple[str, ...]:
    return tuple(cell(mean(results.scores("ZS", s.objective, s.transform, task, PRIMARY[task]))) for task in TASKS)


def _links(results: Results, s: Setting) -> tuple[str, str]:
    labels: BySeed = results.scores(LABELS, s.objective, s.transform, "", "precision")
    return cell(mean(errors(results, s.objective, s.transform))), cell(mean(labels))


def published_in(results: Results, table: int) -> list[Published]:
    """What the paper prints in a table."""
    return [p for p in results.published if p.table == table]


def _printed(results: Results, table: int, setting: str) -> tuple[str, ...]:
    values = {p.task: percent(p.value) for p in published_in(results, table) if p.setting == setting}
    return tuple(values.get(task, MISSING) for task in TASKS)


def records_of(results: Results, rows: list[Setting]) -> list[Record]:
    """The records that settings show."""
    return results.of_cells({(s.objective, s.transform) for s in rows}, ("ZS", AER, LABELS))


def _note(results: Results) -> str:
    start = usual_start(results)
    begun = f"each begins{after(start)}" if start else "each begins with weights that are drawn"
    measured = results.layers(AER)
    aer = "AER is over gold links of derived sentences; labels are those of the last steps. " if measured else ""
    seeds = over_seeds(results.seeds, results.redrawn)
    return (
        f"Percent; ours: {seeds}; {begun}. Published are means over XTREME’s real languages; its "
        f"POS is F1 on bare tags. {units_note(results.records, results.tasks)}{aer}{MISSING}: not measured."
    )
