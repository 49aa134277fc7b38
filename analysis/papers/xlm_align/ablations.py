"""Tabulate and plot ablations of XLM-Align, as in Tables 3 to 7 of its paper, and judge claims about it."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.markers import CARETLEFTBASE, CARETRIGHTBASE
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.align_mlm.claims import hardest_transform, leader, transfer_findings
from calque.analysis.papers.columns import (
    LABELS,
    RETAINED,
    Column,
    columns_of,
    main_metrics,
    printed_rows,
    rows_of,
    task_columns,
)
from calque.analysis.papers.looks import Look, family
from calque.analysis.papers.texts import claim, heading, plot, table
from calque.analysis.records.record import AER, DELTA, Described, Published, Start
from calque.analysis.records.record import LABELS as SELF_LABELS
from calque.analysis.report import drawing
from calque.analysis.report.drawing import INK
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, percent
from calque.analysis.results.measured import difference, judge_difference, judge_estimate, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.statistics.verdicts import Claim, Verdict
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title
from calque.derive.files import read_toml
from calque.pretrain.objectives.xlm_align import XLMAlign

SWITCHES = ("tlm", "queries", "labels", "label_layer", "first", "filtering", "layer")
"""The parameters varied in Tables 3 to 7; others, such as the mask rate, belong to a study's scale."""
DEFAULTS: dict[str, Any] = {switch: getattr(XLMAlign(), switch) for switch in SWITCHES}
DEFAULT = ""  # unmodified XLM-Align, the baseline in the paper's tables
NEITHER = "without DWA, without TLM"
OWN = ", of ours"  # marks settings that are not in the paper
_PAPER = read_toml(Path(__file__).with_name("ablations.toml"))
TABLES: dict[int, dict[str, Any]] = {int(number): entry for number, entry in _PAPER["tables"].items()}
SWITCHED: dict[str, dict[str, Any]] = _PAPER["switches"]  # the switches that each setting changes
ARROWS = (CARETLEFTBASE, CARETRIGHTBASE)  # markers for intervals that extend beyond the axis
BELOW = 0.24  # vertical offset of the paper's number from ours, as a fraction of a row's height
NAMES = 1.9  # width in inches of settings' names
ROOM, LEAST = 0.5, 5.0  # margin of the axis: a fraction of the data's range, and its minimum in points
TASKS = ("nli", "ner", "pos", "qa")  # the paper's tasks
PRECISION = Column("precision of labels", SELF_LABELS, "precision")
MOST = 0.5  # self-labelling works if more than this share of labels is correct


def changes(objective: Described) -> dict[str, Any] | None:
    """Return the switches that an objective changes in the paper's XLM-Align; None if it is not a
    variant of XLM-Align."""
    part = objective.part("DWA")
    return None if part is None else {name: part[name] for name in SWITCHES if part[name] != DEFAULTS[name]}


def variant(results: Results, start: Start | None, **switches: Any) -> str | None:
    """Return the name of the objective that is XLM-Align with the given start and changed switches; None if
    the study lacks it."""
    names = (name for name in results.objectives if results.start(name) == start)
    return next((name for name in names if changes(results.objective(name)) == switches), None)


def _plain_mlm(results: Results, start: Start | None) -> str | None:
    names = (name for name in results.objectives if results.start(name) == start)
    return next((n for n in names if [part["kind"] for part in results.objective(n).parts] == ["MLM"]), None)


def usual_start(results: Results) -> Start | None:
    """Return the most common start among XLM-Align's variants."""
    variants = (name for name in results.objectives if changes(results.objective(name)) is not None)
    starts = list(map(results.start, variants))
    return max(starts, key=starts.count, default=None)


def _after(start: Start | None) -> str:
    return f" after {start.title}" if start else ""


class Setting(NamedTuple):
    """A table row: its table, the paper's name for it, and the study's objective and transform."""

    table: int
    name: str
    objective: str
    transform: str


def settings(results: Results) -> list[Setting]:
    """Return the settings that the study's objectives cover, including layers that the paper does not use."""
    start, chosen = usual_start(results), list[Setting]()
    switched = [changes(results.objective(name)) or {} for name in results.objectives]
    earlier: set[str] = {DEFAULT}  # a table needs settings not among these; Table 3 adds its own
    for number, entry in TABLES.items():
        names = [name for name in dict.fromkeys((DEFAULT, *entry["settings"])) if name in SWITCHED]
        rows = {name: variant(results, start, **SWITCHED[name]) for name in names}
        rows |= {NEITHER: _plain_mlm(results, start)} if NEITHER in entry["settings"] else {}
        switch, word = entry.get("layers", ("", ""))
        for layer in sorted({its[switch] for its in switched if switch in its}):
            rows[f"{word} {layer}{OWN}"] = variant(results, start, **{switch: layer})
        found = {name: objective for name, objective in rows.items() if objective is not None}
        if not found.keys() <= earlier:
            cells = product(results.transforms, found.items())
            chosen += [Setting(number, name, objective, transform) for transform, (name, objective) in cells]
        earlier |= found.keys() if number == 3 else set()
    return chosen


def _errors(results: Results) -> Column:
    """The AER at the last measured layer, with the two sides encoded separately."""
    layer = max(results.layers(AER), default=None)
    return Column("AER, last layer", AER, "aer", facets={"layer": layer})


def xlm_align_tables(results: Results) -> dict[str, Table]:
    """Return the tables of XLM-Align's ablations, by file name."""
    return {"starts": _starts_table(results), **_ablation_tables(results)}


def _starts_table(results: Results) -> Table:
    """Tabulate self-labels, alignment, AER and Delta, to show which starts let self-labelling work."""
    columns = columns_of("starts")
    for (joint, way), n in product(((False, ""), (True, ", joint")), results.layers(AER)):
        columns.append(Column(f"AER layer {n}{way}", AER, "aer", "", {"layer": n, "joint": joint}))
    columns += task_columns([DELTA], main_metrics(results))
    columns += task_columns([RETAINED], main_metrics(results)) if results.floors.all else []
    heads = [column.head for column in columns]
    rows = (row for transform in results.transforms for row in rows_of(results, columns, [transform]))
    return table("starts", results, LABELS, heads, rows)


def _ablation_tables(results: Results) -> dict[str, Table]:
    every, start, tables = settings(results), usual_start(results), {}
    columns = task_columns(["ZS"], [(task, PRIMARY[task]) for task in TASKS])
    columns += [_errors(results), PRECISION]
    labels, heads = ("setting", "languages", "source"), [column.head for column in columns]
    for number, entry in TABLES.items():
        rows: list[tuple[str, ...]] = []
        for _, name, objective, transform in (setting for setting in every if setting.table == number):
            cells = (column.cell(results, objective, transform) for column in columns)
            rows.append((name or "XLM-Align", results.transform_title(transform), OURS, *cells))
        if not rows:
            continue
        printed = printed_rows((p for p in results.published if p.table == number), ["setting"], "task")
        for name in (name for name in entry["settings"] if (name,) in printed):
            numbers = map(percent, map(printed[name,].get, TASKS))
            rows.append((name or "XLM-Align", "XTREME", PUBLISHED, *numbers, MISSING, MISSING))
        about: dict[str, Any] = {"about": entry["about"], "parts": {"aer": results.has(AER)}, "table": number}
        about["begins"] = _after(start) if start else " from random weights"
        tables[f"table-{number}"] = table("ablations", results, labels, heads, rows, **about)
    return tables


def xlm_align_claims(results: Results) -> Iterator[Claim]:
    """Yield the paper's headline claims about the objectives and transforms in the records."""
    wholes = [name for name in results.objectives if changes(results.objective(name)) == {}]
    for transform, whole in product(results.transforms, wholes):
        yield from _labelling(results, transform, whole)
        yield from _parts(results, transform, whole)


def _judged(results: Results, column: Column, transform: str, pair: tuple[str, str], side: int) -> Verdict:
    both = (column.values(results, objective, transform) for objective in pair)
    return judge_difference(*both, side=side)


def _labelling(results: Results, transform: str, whole: str) -> Iterator[Claim]:
    start, cold, title = results.start(whole), variant(results, None), results.objective_title
    under, name = results.transform_title(transform), "labels-right" if start else "labels-right-from-scratch"
    verdict = judge_estimate(mean(PRECISION.values(results, whole, transform)), +1, MOST)
    yield claim(name, verdict, better=title(whole), under=under)
    if start and cold is not None:
        verdict = _judged(results, PRECISION, transform, (whole, cold), +1)
        yield claim("more-labels-right", verdict, better=title(whole), worse=title(cold), under=under)
    golds = [variant(results, begun, labels="gold") for begun in ([None, start] if start else [None])]
    first = start.objective.name if start and start.objective.name in results.objectives else None
    for better, worse in [(whole, cold), (whole, first), *((gold, whole) for gold in golds)]:
        if better is not None and worse is not None and better != worse:
            verdict = _judged(results, _errors(results), transform, (better, worse), -1)
            yield claim("lower-aer", verdict, better=title(better), worse=title(worse), under=under)


def _parts(results: Results, transform: str, whole: str) -> Iterator[Claim]:
    start, under = results.start(whole), results.transform_title(transform)
    for part in ("DWA", "TLM", "filtering"):  # parts that help according to the paper
        without = variant(results, start, **SWITCHED[f"without {part}"])
        if without is None:
            continue
        compared = transform, (whole, without)
        about = {"part": part, "Part": part[0].upper() + part[1:], "after": _after(start), "under": under}
        yield claim("part-lowers-aer", _judged(results, _errors(results), *compared, -1), **about)
        about["where"] = "Table 6" if part == "filtering" else "Table 3"
        for column in task_columns(["ZS"], main_metrics(results)):
            verdict = _judged(results, column, *compared, +1)
            yield claim("part-helps", verdict, on=task_title(column.task), **about)


def xlm_align_findings(results: Results) -> Iterator[str]:
    """Report self-labels and error rates under the transform with the highest mean AER, and transfer."""
    errors = _errors(results)
    if hardest := hardest_transform(results, [errors]):
        under = f"under {results.transform_title(hardest)}"
        switched = {name: changes(results.objective(name)) or {} for name in results.objectives}
        own = [name for name, its in switched.items() if its.get("labels") != "gold"]
        labels = f"precision of self-made labels {under}"
        yield from leader(results, labels, PRECISION, hardest, +1, objectives=own)
        yield from leader(results, f"AER of the last layer {under}", errors, hardest, -1)
    yield from transfer_findings(results)


Row = tuple[str, str, str]  # a row of the figure: a setting's name, objective and transform


def ablation_figure(results: Results) -> Plot | None:
    """Plot each setting's gain over unmodified XLM-Align, with one panel per task and a common scale."""
    every = settings(results)
    rows = list(dict.fromkeys((s.name, s.objective, s.transform) for s in every if s.name != DEFAULT))
    default = variant(results, usual_start(results))
    tasks = [task for task in TASKS if task in results.tasks]
    if not rows or not tasks or default is None:
        return None
    gains = _gains(results, rows, tasks, default)
    published, printed = _published_gains(results)
    theirs = [printed[name, task] for name, _, _ in rows for task in tasks if (name, task) in printed]
    limits = _limits([*(gain.mean for gain in gains.values() if gain), *theirs])

    def draw(panel: Axes, task: str) -> None:
        for y, (name, objective, _) in enumerate(rows):
            kind = family(results.objective(objective))
            if kind and (gain := gains[y, task]):
                _draw_gain(panel, y, gain, kind.look, limits)
            if (name, task) in printed:
                x = 100 * printed[name, task]
                style: dict[str, Any] = {"color": INK, "markerfacecolor": "#ffffff", "markersize": 5}
                drawing.draw_line(panel, x, y + BELOW, across=True, fmt="D", **style)
        panel.axvline(0, color=INK, linewidth=0.8)
        panel.set_xlim(*limits)
        panel.xaxis.set_major_locator(MaxNLocator(3, prune="both"))  # keeps adjacent panels' labels apart

    panels = [(f"{task_title(task)}\n{metric_title(PRIMARY[task])}", task) for task in tasks]
    title, height = heading("figure-ablations"), 0.8 + 0.38 * len(rows)
    shared: dict[str, Any] = {"labels": ("ZS gain", ""), "sharex": True, "sharey": True}
    with drawing.small_multiples(title, panels, draw, len(tasks), height, **shared) as (figure, axes):
        names = [_row_name(results, name, transform) for name, _, transform in rows]
        axes[0, 0].set_yticks(range(len(names)), names)
        axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
        families = filter(None, dict.fromkeys(family(results.objective(name)) for _, name, _ in rows))
        handles = [drawing.key(f"ours, {kind.plain.title}", *kind.look[:2]) for kind in families]
        drawing.legend(
            figure, [*handles, drawing.key("published, at the paper’s scale", INK, "D", "none")], 3
        )
    cells = {(s.objective, s.transform) for s in every}
    zero_shot = (record for record in results.records if record.measure == "ZS")
    records = [record for record in zero_shot if (results.objective_of(record), record.language) in cells]
    numbers = [p for p in published if p.task in tasks]
    return plot("figure-ablations", figure, results, records, numbers)


def _gains(
    results: Results, rows: Sequence[Row], tasks: Sequence[str], default: str
) -> dict[tuple[int, str], Estimate | None]:
    """Return the difference from the default by row and task."""
    gains = {}
    for (y, (_, objective, transform)), task in product(enumerate(rows), tasks):
        cell = (transform, task, PRIMARY[task])
        gains[y, task] = difference(*(results.scores("ZS", name, *cell) for name in (objective, default)))
    return gains


def _row_name(results: Results, name: str, transform: str) -> str:
    under = f" ({results.transform_title(transform)})" if len(results.transforms) > 1 else ""
    return drawing.wrapped(name.removesuffix(OWN) + under, NAMES)


def _published_gains(results: Results) -> tuple[list[Published], dict[tuple[str, str], float]]:
    """Return the numbers in Tables 3 to 7, and their differences from the default by setting and task."""
    published = sorted((p for p in results.published if p.table in TABLES), key=lambda p: p.table)
    start = {p.task: p.value for p in published if p.table == 3 and p.setting == DEFAULT}
    return published, {(p.setting, p.task): p.value - start[p.task] for p in published if p.task in start}


def _limits(gains: Sequence[float]) -> tuple[float, float]:
    points = [0.0, *(100 * gain for gain in gains)]
    room = max(ROOM * (max(points) - min(points)), LEAST)
    return min(points) - room, max(points) + room


def _draw_gain(panel: Axes, y: int, gain: Estimate, look: Look, limits: tuple[float, float]) -> None:
    (both,) = drawing.ends([gain])
    style: dict[str, Any] = {"color": look.colour, "markersize": 6}
    drawing.draw_line(panel, 100 * gain.mean, y, [both], across=True, fmt=look.marker, **style)
    drawing.draw_intervals(panel, [y], [both], look.colour, across=True)
    for end, edge, side, arrow in zip(both or (), limits, (-1, 1), ARROWS, strict=False):
        if side * (end - edge) > 0:
            panel.plot(edge, y, linestyle="", marker=arrow, clip_on=False, **style)
