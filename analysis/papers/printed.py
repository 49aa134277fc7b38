"""A table of a paper with our numbers below its own: a row of ours for each printed row that has a counterpart."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from calque.analysis.papers.columns import task_columns
from calque.analysis.papers.published import notes, published
from calque.analysis.records.record import Published, Record
from calque.analysis.records.run import Run
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, over_seeds, percent
from calque.analysis.results.results import Results


class Row(NamedTuple):
    """What identifies a printed row: its objective, its transform and the setting that it varies."""

    objective: str
    transform: str
    setting: str


def printed_table(
    runs: Sequence[Run],
    records: Sequence[Record],
    paper: str,
    number: int,
    same: Mapping[str, Mapping[str, Any]],
    title: str,
    remark: str = "",
) -> Table:
    """Table `number` of a paper, each row followed by ours; the columns are the paper's. `same` has the names of ours
    that correspond to printed ones, where they differ: `transforms`; `objectives`, by an objective with its setting, as
    in "XLM parallel 1%"; and under `settings` a sweep's values by printed setting ("" for none)."""
    objectives, transforms, settings = (same.get(kind, {}) for kind in ("objectives", "transforms", "settings"))
    rows: dict[Row, dict[tuple[str, str, str], Published]] = {}
    for one in published(paper, number):
        setting = " ".join(filter(None, [one.setting, one.language]))
        rows.setdefault(Row(one.objective, one.transform, setting), {})[one.measure, one.task, one.metric] = one
    keys = dict.fromkeys(key for numbers in rows.values() for key in numbers)
    columns = [task_columns([measure], [(task, metric)])[0] for measure, task, metric in keys]
    cells: list[tuple[str, ...]] = []
    shown: dict[str, Results] = {}
    for row, numbers in rows.items():
        results = _with_settings(runs, records, settings.get(row.setting, {}))
        transform = transforms.get(row.transform, row.transform)
        usual = not row.setting or row.setting in settings
        objective = row.objective if usual else objectives.get(f"{row.objective} {row.setting}", "")
        name, setting = next(iter(numbers.values())).title or "–", row.setting or "default"
        theirs = (percent(numbers[key].value if key in numbers else None) for key in keys)
        cells.append((row.objective, name, setting, PUBLISHED, *theirs))
        ours = [column.cell(results, objective, transform) for column in columns]
        if any(one != MISSING for one in ours):
            cells.append((row.objective, results.transform_title(transform), setting, OURS, *ours))
            shown |= dict.fromkeys(results.run_ids(), results)
    ours_over = f"; ours: {over_seeds(next(iter(shown.values())).seeds)}" if shown else ""
    note = " ".join(filter(None, [f"Percent{ours_over}.", remark, notes(paper).get(number, "")]))
    header = ("objective", "transform", "setting", "source", *(column.head for column in columns))
    return Table(title, header, tuple(cells), note, tuple(sorted(shown)), 4)


def _with_settings(runs: Sequence[Run], records: Sequence[Record], wanted: Mapping[str, str]) -> Results:
    chosen = [run for run in runs if all(run.settings.get(key) == value for key, value in wanted.items())]
    names = {run.id for run in chosen}
    return Results(chosen, [record for record in records if record.run in names])
