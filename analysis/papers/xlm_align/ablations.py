"""Tables 3 to 7 of XLM-Align: what each part of the objective and each of its values is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.records.record import AER, LABELS, Published, Record
from analysis.records.results import PRIMARY, BySeed, Results, mean, metric_name, task_name, transform_name
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, over_seeds, percent

DEFAULT = ""
"""The setting that the papers' tables compare with: all of XLM-Align as it is."""
TABLES = {
    3: ("The parts of XLM-Align", (DEFAULT, "without DWA", "without TLM", "without DWA, without TLM")),
    4: ("The layer that labels itself", (DEFAULT, "self-labelling layer 8", "self-labelling layer 12")),
    5: ("The layer that learns denoising word alignment", ("DWA layer 8", "DWA layer 10", "DWA layer 12")),
    6: ("Filtering of the self-labelled links", (DEFAULT, "without filtering")),
    7: ("The positions that query", (DEFAULT, "queries unmasked", "queries all-aligned", "without DWA")),
}
OBJECTIVE = {
    "without DWA": "XLM-ALIGN-no-dwa",
    "without TLM": "XLM-ALIGN-no-tlm",
    "without DWA, without TLM": "MLM",
    "without filtering": "XLM-ALIGN-unfiltered",
    "queries unmasked": "XLM-ALIGN-unmasked",
    "queries all-aligned": "XLM-ALIGN-all-aligned",
}
"""What a setting is called here; layers are not in it, for a small model has others."""
TASKS = tuple(PRIMARY)
PRINTED = "qa"
"""The paper's fourth task."""


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
    start = start_of(results)
    have = {name.removesuffix(start): name for name in results.objectives if name.endswith(start)}
    found = []
    for table, (_, printed) in TABLES.items():
        rows = {DEFAULT: "XLM-ALIGN"} | {name: OBJECTIVE[name] for name in printed if name in OBJECTIVE}
        word = {4: ("label", "self-labelling layer"), 5: ("dwa", "DWA layer")}.get(table)
        if word:
            layers = (re.fullmatch(rf"XLM-ALIGN-{word[0]}(\d+)", name) for name in sorted(have))
            rows |= {f"{word[1]} {layer[1]}, of ours": layer[0] for layer in layers if layer}
        found += [
            Setting(table, name, have[objective], transform)
            for transform in results.transforms
            for name, objective in rows.items()
            if objective in have
        ]
    names = {table: {s.name for s in found if s.table == table} for table in TABLES}
    told = {table for table in TABLES if names[table] <= ({DEFAULT} if table == 3 else names[3] | {DEFAULT})}
    return [setting for setting in found if setting.table not in told]


def ablation_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Tables 3 to 7 with the paper's rows below ours: zero-shot scores, and what the alignment is like."""
    every = settings(results)
    head = [f"{task_name(task)} {metric_name(PRIMARY[task])} ZS" for task in TASKS]
    for table, (title, names) in TABLES.items():
        ours = [setting for setting in every if setting.table == table]
        if not ours:
            continue
        rows = [
            (
                s.name or "XLM-Align",
                transform_name(s.transform),
                OURS,
                *_scores(results, s),
                MISSING,
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
                ("setting", "languages", "source", *head, "QA F1 ZS", "AER, last layer", "precision of labels"),
                tuple(rows),
                _note(results),
                frozenset(range(first, len(rows))),
                tuple(sorted({r.run for r in records_of(results, ours)})),
                labels=3,
            ),
        )


def top_layer(results: Results) -> str:
    """The metric of AER after the last layer, each side encoded alone."""
    layers = {r.metric for r in results.records if r.measure == AER and not r.metric.endswith("joint")}
    return max(layers, key=lambda name: int(name.split()[1]), default="")


def start_of(results: Results) -> str:
    """The end of the objectives' names that most ablations have: empty, or what they begin after."""
    ends = [name.removeprefix(f"{name.partition('-after-')[0]}") for name in results.objectives if "XLM-ALIGN" in name]
    return max(dict.fromkeys(ends), key=ends.count, default="")


def _scores(results: Results, s: Setting) -> tuple[str, ...]:
    return tuple(cell(mean(results.scores("ZS", s.objective, s.transform, task, PRIMARY[task]))) for task in TASKS)


def _links(results: Results, s: Setting) -> tuple[str, str]:
    labels: BySeed = results.scores(LABELS, s.objective, s.transform, "", "precision")
    return cell(mean(results.scores(AER, s.objective, s.transform, "", top_layer(results)))), cell(mean(labels))


def published_in(results: Results, table: int) -> list[Published]:
    return [p for p in results.published if p.table == table]


def _printed(results: Results, table: int, setting: str) -> tuple[str, ...]:
    found = {p.task: percent(p.value) for p in published_in(results, table) if p.setting == setting}
    return tuple(found.get(task, MISSING) for task in (*TASKS, PRINTED))


def records_of(results: Results, rows: list[Setting]) -> list[Record]:
    shown = {(s.objective, s.transform) for s in rows}
    return [r for r in results.records if (r.objective, r.transform) in shown and r.measure in ("ZS", AER, LABELS)]


def _note(results: Results) -> str:
    start = start_of(results)
    begun = f"each begins {start[1:].replace('-', ' ', 1)}" if start else "each begins with weights that are drawn"
    default = mean(results.scores(AER, f"XLM-ALIGN{start}", results.transforms[0], "", top_layer(results)))
    aer = "" if default is None else " AER is over gold links of derived sentences; labels are those of the last steps."
    return (
        f"Percent; ours: {over_seeds(results.seeds)}; {begun}. Published are means over XTREME’s real languages; "
        "its POS is F1 on bare tags."
        f"{aer} {MISSING}: not measured."
    )
