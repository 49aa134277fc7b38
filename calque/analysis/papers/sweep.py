"""Report on a sweep: a study run with several values of some settings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from calque.analysis.papers.colours import Look, keys, looks
from calque.analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Floor, Record, Run
from calque.analysis.report import drawing
from calque.analysis.report.drawing import HALF, INK, MOST, Plot
from calque.analysis.report.table import MISSING, Table, cell, listed, over_seeds
from calque.analysis.results import BySeed, Results, average, difference, means
from calque.analysis.statistics import Estimate, at_confidence, holm_intervals
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title

Values = tuple[str, ...]  # one value for each swept setting
ANY = "any"  # the value shown for baselines, which do not depend on the settings
TITLES = {
    "dictionary.fraction": "share of types in the dictionary",
    "dictionary.by": "choice of the dictionary’s types",
    "dictionary.correct": "share of correct dictionary pairs",
    "dictionary.wrong": "wrong pairs of the dictionary",
    "finetune.learning_rate": "learning rate of fine-tuning",
    "finetune.freeze_table": "frozen table in fine-tuning",
    "easy.types": "word types of the text",
    "vocabulary": "vocabulary size",
    "train.steps": "training steps",
}
"""The titles of settings whose last component does not say enough, by the ends of their keys."""


def setting_title(key: str) -> str:
    """Return a setting's title: for `train.weight_decay`, "weight decay"."""
    end = key.rpartition(".")[2].replace("_", " ")
    title = next((title for name, title in TITLES.items() if key.endswith(name)), end)
    return f"{title} on {task_title(key.split('.')[1])}" if key.startswith("tasks.") else title


class Row(NamedTuple):
    """The fields that identify a row in the table or a point in the figure."""

    language: str
    objective: str
    values: Values


@dataclass(frozen=True)
class SweepResults:
    """The results for each combination of values of the settings `keys` (none: a plain study)."""

    keys: tuple[str, ...]
    variants: Mapping[Values, Results]

    @property
    def titles(self) -> list[str]:
        titles = list(map(setting_title, self.keys))
        return titles if len({*titles}) == len(titles) else list(self.keys)

    @property
    def values(self) -> list[list[str]]:
        return [list(dict.fromkeys(values)) for values in zip(*self.variants, strict=True)]

    @cached_property
    def by_seed(self) -> dict[str, dict[Row, BySeed]]:
        columns: dict[str, dict[Row, list[BySeed]]] = {}
        for values, results in self.variants.items():
            for record, by_seed in results.columns():
                if title := column_of(record, results):
                    row = Row(_language(record, results), results.objective_of(record), values)
                    columns.setdefault(title, {}).setdefault(row, []).append(by_seed)
        return {title: {row: average(rows[row]) for row in rows} for title, rows in columns.items()}

    @cached_property
    def numbers(self) -> dict[str, dict[Row, Estimate]]:
        return {title: dict(means(column.items())) for title, column in self.by_seed.items()}

    @cached_property
    def rows(self) -> list[Row]:
        rows = dict.fromkeys(row for column in self.numbers.values() for row in column)
        languages, objectives, _ = map(dict.fromkeys, zip(*rows, strict=True)) if rows else ((), (), ())
        return [row for row in map(Row._make, product(languages, objectives, self.variants)) if row in rows]

    @cached_property
    def baselines(self) -> list[str]:
        """The objectives, unless all, whose zero-shot scores (or, without tasks, numbers) never change."""
        scores = [name for name in self.numbers if name.endswith(", ZS")] or list(self.numbers)
        names, same = self.objectives.objectives, []
        found = [(title, *item) for title in scores for item in self.numbers[title].items()]
        for name in names:
            by_values: dict[Values, Any] = {values: {} for values in self.variants}
            for title, row, number in found:
                if row.objective == name:
                    by_values[row.values][title, row.language] = number
            first, *others = by_values.values()
            if first and all(numbers == first for numbers in others):
                same.append(name)
        return same if len(same) < len(names) else []

    def floors(self) -> list[Floor]:
        """Return all floors; one shared by all values occurs once, without settings."""
        counts = Counter(floor for results in self.variants.values() for floor in results.floors)
        floors: dict[Floor, None] = {}
        for values, results in self.variants.items():
            settings = dict(zip(self.keys, values, strict=True))
            for floor in results.floors:
                shared = counts[floor] == len(self.variants)
                floors[floor if shared else replace(floor, settings=settings)] = None
        return list(floors)

    def records_of(self, columns: Sequence[str]) -> list[Record]:
        """Return the records whose numbers are in the columns."""
        records = list[Record]()
        for results in self.variants.values():
            records += [record for record in results.records if column_of(record, results) in columns]
        return records

    @property
    def first(self) -> Results:
        return next(iter(self.variants.values()))

    @cached_property
    def objectives(self) -> Results:
        """Results with one record per objective, for titles and looks."""
        chosen: dict[str, tuple[Run, Record]] = {}
        for results in self.variants.values():
            for record in results.records:
                chosen.setdefault(results.objective_of(record), (results.runs[record.run], record))
        return Results([run for run, _ in chosen.values()], [record for _, record in chosen.values()])


def column_of(record: Record, results: Results) -> str:
    """Return the heading of the column that shows a record's number, or ""."""
    run, measure, metric = results.runs[record.run], record.measure, record.metric
    if measure in ("ZS", DELTA) and metric == PRIMARY.get(record.task):
        return f"{task_title(record.task)} {metric_title(metric)}, {measure.replace(DELTA, 'Δ')}"
    if measure == ALIGNMENT and metric == "held-out":
        return "alignment@1, held-out"
    if record.layer != run.main_layer:
        return ""
    derived = {language.name for language in run.languages if language.parts}
    if measure == RETRIEVAL and metric == "cosine" and record.first not in derived:  # only from the source
        return f"retrieval, layer {record.layer}"
    is_shown = measure == AER and record.gold_set and not record.joint
    return f"AER {record.gold_set}, {record.aligner}" if is_shown else ""


def _language(record: Record, results: Results) -> str:
    languages = results.runs[record.run].languages
    titles = (language.title for language in languages if language.parts and language.name == record.language)
    return next(titles, "all languages")


def sweep_question(sweep: SweepResults) -> str:
    """Return the heading of a sweep's report."""
    return f"What changes with {listed([f'the {title}' for title in sweep.titles])}?"


def sweep_table(sweep: SweepResults, scale: str) -> Table:
    """Tabulate languages, objectives and values; a baseline has one row for all values."""
    rows = []
    for row in sweep.rows:
        shared = row.objective in sweep.baselines and all(
            column.get(row) == column.get(row._replace(values=variant))
            for column, variant in product(sweep.numbers.values(), sweep.variants)
        )
        values = [ANY] * len(sweep.keys) if shared else row.values
        cells = [cell(column.get(row)) for column in sweep.numbers.values()]
        rows.append((row.language, sweep.objectives.objective_title(row.objective), *values, *cells))
    title = f"{sweep.first.study} by {', '.join(sweep.titles)} ({scale})"
    header = ("language", "objective", *sweep.titles, *sweep.numbers)
    seeds = "; ".join(dict.fromkeys(over_seeds(r.seeds, r.redrawn) for r in sweep.variants.values()))
    return Table(title, header, tuple(dict.fromkeys(rows)), f"Percent; {seeds}.", 2 + len(sweep.keys))


class Pair(NamedTuple):
    """Two rows that differ in the setting with this index (None: `theirs` is a baseline)."""

    setting: int | None
    ours: Row
    theirs: Row


Difference = tuple[Estimate, float | None]
"""The difference between two rows, paired by seed, and its p-value, corrected for the column (Holm)."""


def differences(sweep: SweepResults) -> dict[str, dict[Pair, Difference]]:
    """Return each column's differences of consecutive values, of the first and last, and from baselines."""
    by_column, pairs = {}, list(_pairs(sweep))
    for title, column in sweep.by_seed.items():
        gaps = {pair: difference(column.get(pair.ours, {}), column.get(pair.theirs, {})) for pair in pairs}
        found: dict[Pair, Difference] = {pair: (gap, None) for pair, gap in gaps.items() if gap}
        above = {pair: gap.p(0, 1) for pair, (gap, _) in found.items()}
        tested = {pair: 2 * min(p, 1 - p) for pair, p in above.items() if p is not None}
        limit = 2 if title.endswith("Δ") else 1
        for pair, (p, confidence) in zip(tested, holm_intervals([*tested.values()]), strict=True):
            found[pair] = at_confidence(found[pair][0], confidence, (-limit, limit)), p
        by_column[title] = found
    return by_column


def _pairs(sweep: SweepResults) -> Iterator[Pair]:
    models = (row[:2] for row in sweep.rows if row.objective not in sweep.baselines)
    for model in dict.fromkeys(models):
        for setting, values in enumerate(sweep.values):
            ends = [(values[0], values[-1])] if len(values) > 2 else []
            for (first, second), variant in product([*pairwise(values), *ends], sweep.variants):
                if variant[setting] == first:
                    second_variant = (*variant[:setting], second, *variant[setting + 1 :])
                    yield Pair(setting, Row(*model, second_variant), Row(*model, variant))
        for variant, baseline in product(sweep.variants, sweep.baselines):
            yield Pair(None, Row(*model, variant), Row(model[0], baseline, variant))


def differences_table(sweep: SweepResults) -> Table | None:
    """Tabulate the differences in points; None if none has an interval over seeds."""
    by_column, rows = differences(sweep), list[tuple[str, ...]]()
    columns = by_column.values()
    if all(p is None for column in columns for _, p in column.values()):
        return None
    for pair in dict.fromkeys(pair for column in columns for pair in column):
        values = dict(zip(sweep.titles, pair.ours.values, strict=True))
        comparison = f"minus {sweep.objectives.objective_title(pair.theirs.objective)}"
        if pair.setting is not None:
            title = sweep.titles[pair.setting]
            comparison = f"{title} {values.pop(title)} minus {pair.theirs.values[pair.setting]}"
        objective = sweep.objectives.objective_title(pair.ours.objective)
        others = ", ".join(map(" ".join, values.items())) or MISSING
        cells = [cell(column[pair][0] if pair in column else None) for column in columns]
        rows.append((pair.ours.language, objective, comparison, others, *cells))
    note = (
        "Points; differences paired by seed. Each value is compared with the next one, and the first with "
        f"the last. Intervals are corrected for the up to {max(map(len, columns))} comparisons of a column "
        "(Holm 1979): one without 0 is a difference at 5 % for the column."
    )
    header = ("language", "objective", "comparison", "with", *by_column)
    return Table(f"Differences by {', '.join(sweep.titles)}", header, tuple(rows), note, 4)


PANELS = 4  # maximum number of columns of panels
SERIES_COLOURS = ("#440154", "#31688e", "#35b779", "#b8a100", "#c2410c", "#7a7a7a")
SERIES = list(map(Look, SERIES_COLOURS, "osD^vP"))  # looks for a second setting's values


def sweep_figure(sweep: SweepResults, scale: str) -> Plot | None:
    """Plot numbers against the setting with most values. A second setting has one line per value and one row
    of panels per objective. Baselines are horizontal lines. None if there is too much to show."""
    columns, look = list(sweep.numbers)[:PANELS], looks(sweep.objectives)
    x, *second = sorted(range(len(sweep.keys)), key=lambda i: -len(sweep.values[i]))
    values, series = sweep.values[x], [value for i in second for value in sweep.values[i]]
    lines, groups = dict(zip(series, SERIES, strict=False)), _groups(sweep, list(look))
    if not columns or not look or len(second) > 1 or len(series) > len(lines) or len(groups) > MOST:
        return None

    def draw(panel: Axes, content: tuple[str, Sequence[str], str]) -> None:
        language, objectives, column = content
        for objective, style in look.items():
            rows = {row: n for row, n in sweep.numbers[column].items() if row[:2] == (language, objective)}
            if objective in sweep.baselines and len({*rows.values()}) == 1:
                share, ends = next(iter(rows.values())).mean, [0, len(values) - 1]
                drawing.level(panel, share, ends, "--", style.colour, linewidth=1.2)
            elif objective in objectives:
                for value, (colour, marker, dash) in (lines or {"": style}).items():
                    of_line = [row for row in rows if all(row.values[i] == value for i in second)]
                    of_line.sort(key=lambda row: values.index(row.values[x]))
                    points = [(float(values.index(row.values[x])), rows[row]) for row in of_line]
                    drawing.draw_points(panel, points, colour, marker, linestyle=dash)
        if column.endswith("Δ"):
            panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xticks(range(len(values)), values, rotation=30, ha="right")

    several = len(groups) > 1
    across, panels = min(len(columns), PANELS if several else 2), []
    for (language, objectives), name in product(groups, columns):
        heads = ", ".join([language, *map(sweep.objectives.objective_title, objectives if second else ())])
        panels.append((f"{heads}\n{name}" if several else name, (language, objectives, name)))
    layout: dict[str, Any] = {"sharex": True, "sharey": "col"} if several else {}
    layout["labels"] = drawing.wrapped(sweep.titles[x], (HALF - 0.5) / across), "%"
    layout["legend"] = {"title": sweep.titles[second[0]] if second else None}
    handles, grid = _keys(sweep, look, lines), (across, 1.9)
    figure = drawing.small_multiples(sweep_question(sweep), panels, draw, grid, handles, 4, **layout)
    caption = f"Percent; values are equally spaced. Bars are 95 % intervals. Scale: {scale}."
    head = f"{sweep.first.study} by {listed(sweep.titles)}"
    return Plot(figure, "figure-sweep", head, caption, sweep.records_of(columns))


def _keys(sweep: SweepResults, look: Mapping[str, Look], lines: Mapping[str, Look]) -> list[Any]:
    changing = {name: style for name, style in look.items() if name not in sweep.baselines}
    handles = [] if lines else keys(sweep.objectives, changing)
    handles += [drawing.key(value, *style[:2], line="-") for value, style in lines.items()]
    titles = {name: sweep.objectives.objective_title(name) for name in sweep.baselines}
    return handles + [drawing.key(title, look[name].colour, line="--") for name, title in titles.items()]


def _groups(sweep: SweepResults, names: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """Return each row of panels' language and objectives (a single one with a second setting)."""
    if len(sweep.keys) == 1:
        return [(language, names) for language in dict.fromkeys(row.language for row in sweep.rows)]
    models = dict.fromkeys(row[:2] for row in sweep.rows if row.objective not in sweep.baselines)
    return [(language, [objective]) for language, objective in models]
