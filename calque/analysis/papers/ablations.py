"""Ablations of XLM-Align, as in Tables 3 to 7 of its paper, and claims about them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.markers import CARETLEFTBASE, CARETRIGHTBASE
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.columns import (
    LABELS,
    Column,
    better_than,
    columns_of,
    main_metrics,
    printed_rows,
    rows_of,
    task_columns,
)
from calque.analysis.papers.looks import Look, family
from calque.analysis.papers.texts import chart, claim, table
from calque.analysis.records.record import AER, DELTA, Described, Published, Start
from calque.analysis.records.record import LABELS as SELF_LABELS
from calque.analysis.report import drawing
from calque.analysis.report.drawing import INK, Plot
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, percent
from calque.analysis.results import Results, difference, judge_estimate, mean
from calque.analysis.statistics import Claim, Estimate
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title
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
TASKS = ("nli", "ner", "pos", "qa")  # the paper's tasks
PRECISION = Column("precision of labels", SELF_LABELS, "precision")
MOST = 0.5  # self-labelling works if more than this share of labels is correct


def changes(objective: Described) -> dict[str, Any] | None:
    """Return the switches that an objective changes in XLM-Align; None if it is not a variant of
    XLM-Align."""
    part = objective.part("DWA")
    return None if part is None else {name: part[name] for name in SWITCHES if part[name] != DEFAULTS[name]}


def _variant(results: Results, start: Start | None, **switches: Any) -> str | None:
    """Return the name of XLM-Align's variant with this start and these changes, if there is one."""
    names = (name for name in results.objectives if results.start(name) == start)
    return next((name for name in names if changes(results.objective(name)) == switches), None)


def _usual_start(results: Results) -> Start | None:
    """Return the most common start among XLM-Align's variants."""
    variants = (name for name in results.objectives if changes(results.objective(name)) is not None)
    starts = list(map(results.start, variants))
    return max(starts, key=starts.count, default=None)


def _after(start: Start | None) -> str:
    """Return a phrase that names the start; "" without a start."""
    return f" after {start.title}" if start else ""


class Setting(NamedTuple):
    """A table row: its table, the paper's name for it, and the study's objective and transform."""

    table: int
    name: str
    objective: str
    transform: str


def _settings(results: Results) -> list[Setting]:
    """Return the settings that the study covers, including layers that the paper does not use."""
    start, settings = _usual_start(results), list[Setting]()
    # A table is shown only if it has settings other than these. Table 3 adds its own settings to them.
    earlier: set[str] = {DEFAULT}
    for number, entry in TABLES.items():
        rows = {name: _variant(results, start, **switches) for name, switches in _switches(results, entry)}
        if NEITHER in entry["settings"]:
            names = (name for name in results.objectives if results.start(name) == start)
            plain = (name for name in names if [p["kind"] for p in results.objective(name).parts] == ["MLM"])
            rows[NEITHER] = next(plain, None)
        variants = {name: objective for name, objective in rows.items() if objective is not None}
        if not variants.keys() <= earlier:
            for transform, (name, objective) in product(results.transforms, variants.items()):
                settings.append(Setting(number, name, objective, transform))
        if number == 3:
            earlier |= variants.keys()
    return settings


def _switches(results: Results, table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the names of a table's settings, and of layers that the study adds, with the changed switches."""
    for name in dict.fromkeys((DEFAULT, *table["settings"])):
        if name in SWITCHED:
            yield name, SWITCHED[name]
    switch, word = table.get("layers", ("", ""))
    changed = [changes(results.objective(name)) or {} for name in results.objectives]
    for layer in sorted({switches[switch] for switches in changed if switch in switches}):
        yield f"{word} {layer}{OWN}", {switch: layer}


def _errors(results: Results) -> Column:
    """Return the column for AER at the last measured layer, with each side encoded separately."""
    layer = max(results.layers(AER), default=None)
    return Column("AER, last layer", AER, "aer", facets={"layer": layer})


def xlm_align_tables(results: Results) -> dict[str, Table | None]:
    """Return the tables of XLM-Align's ablations, by file name."""
    tables: dict[str, Table | None] = {"starts": _starts_table(results)}
    return tables | {f"table-{number}": _ablation_table(results, number) for number in TABLES}


def _ablation_table(results: Results, number: int) -> Table | None:
    """Tabulate ZS on the paper's tasks, AER and label precision by setting; None if the study has none."""
    start, rows = _usual_start(results), list[tuple[str, ...]]()
    columns = task_columns(["ZS"], [(task, PRIMARY[task]) for task in TASKS])
    columns += [_errors(results), PRECISION]
    for setting in _settings(results):
        if setting.table == number:
            cells = [column.cell(results, setting.objective, setting.transform) for column in columns]
            title = results.transform_title(setting.transform)
            rows.append((setting.name or "XLM-Align", title, OURS, *cells))
    if not rows:
        return None
    printed = printed_rows((p for p in results.published if p.table == number), ["setting"], "task")
    for name in (name for name in TABLES[number]["settings"] if (name,) in printed):
        numbers = map(percent, map(printed[name,].get, TASKS))
        rows.append((name or "XLM-Align", "XTREME", PUBLISHED, *numbers, MISSING, MISSING))
    about: dict[str, Any] = {"about": TABLES[number]["about"], "parts": {"aer": results.has(AER)}}
    about |= {"table": number, "begins": _after(start) or " from random weights"}
    labels, heads = ("setting", "languages", "source"), [column.head for column in columns]
    return table("ablations", results, labels, heads, rows, **about)


def _starts_table(results: Results) -> Table:
    """Tabulate the precision of labels, alignment@1, AER by layer and Delta by objective and start."""
    columns = columns_of("starts")
    for joint, layer in product((False, True), results.layers(AER)):
        head = f"AER layer {layer}{', joint' if joint else ''}"
        columns.append(Column(head, AER, "aer", facets={"layer": layer, "joint": joint}))
    columns += task_columns([DELTA], main_metrics(results))
    rows = [row for transform in results.transforms for row in rows_of(results, columns, [transform])]
    return table("starts", results, LABELS, [column.head for column in columns], rows)


def xlm_align_claims(results: Results) -> Iterator[Claim]:
    """Yield the paper's headline claims with their verdicts."""
    unmodified = [name for name in results.objectives if changes(results.objective(name)) == {}]
    for transform, objective in product(results.transforms, unmodified):
        yield from _labelling(results, transform, objective)
        yield from _parts(results, transform, objective)


def _labelling(results: Results, transform: str, objective: str) -> Iterator[Claim]:
    """Claim that most labels are correct, and that a start and gold labels lower the AER."""
    start, cold = results.start(objective), _variant(results, None)
    under, name = results.transform_title(transform), "labels-right" if start else "labels-right-from-scratch"
    verdict = judge_estimate(mean(PRECISION.values(results, objective, transform)), +1, MOST)
    yield claim(name, verdict, better=results.objective_title(objective), under=under)
    if start and cold is not None:
        yield better_than(results, "more-labels-right", PRECISION, (objective, cold), transform)
    first = start.objective.name if start and start.objective.name in results.objectives else None
    pairs: list[tuple[str | None, str | None]] = [(objective, cold), (objective, first)]
    for gold_start in [None, start] if start else [None]:
        pairs.append((_variant(results, gold_start, labels="gold"), objective))
    for better, worse in pairs:
        if better is not None and worse is not None and better != worse:
            yield better_than(results, "lower-aer", _errors(results), (better, worse), transform, -1)


def _parts(results: Results, transform: str, objective: str) -> Iterator[Claim]:
    """Claim that each part of XLM-Align lowers the AER and improves ZS, as in the paper."""
    start = results.start(objective)
    for part in ("DWA", "TLM", "filtering"):
        without = _variant(results, start, **SWITCHED[f"without {part}"])
        if without is None:
            continue
        about: dict[str, Any] = {"part": part, "after": _after(start), "Part": part[0].upper() + part[1:]}
        about["where"] = f"Table {6 if part == 'filtering' else 3}"
        pair = objective, without
        yield better_than(results, "part-lowers-aer", _errors(results), pair, transform, -1, **about)
        for column in task_columns(["ZS"], main_metrics(results)):
            on = task_title(column.task)
            yield better_than(results, "part-helps", column, pair, transform, on=on, **about)


ARROWS = (CARETLEFTBASE, CARETRIGHTBASE)  # markers for intervals that extend beyond the axis
BELOW = 0.24  # vertical offset of the paper's number from ours, as a fraction of a row's height
NAMES = 1.9  # width of the settings' names, in inches
ROOM, LEAST = 0.5, 5.0  # margin of the axis: a fraction of the data's range, and its minimum in points
Row = tuple[str, str, str]  # a setting's name, objective and transform


def ablation_figure(results: Results) -> Plot | None:
    """Plot each setting's gain over unmodified XLM-Align, with one panel per task."""
    settings, default = _settings(results), _variant(results, _usual_start(results))
    rows: list[Row] = list(dict.fromkeys(setting[1:] for setting in settings if setting.name != DEFAULT))
    tasks = [task for task in TASKS if task in results.tasks]
    if not rows or not tasks or default is None:
        return None
    gains, (published, printed) = _gains(results, rows, tasks, default), _published_gains(results)
    printed_gains = [printed[name, task] for name, _, _ in rows for task in tasks if (name, task) in printed]
    points = [0.0, *(100 * gain for gain in (*(gain.mean for gain in gains.values()), *printed_gains))]
    room = max(ROOM * (max(points) - min(points)), LEAST)
    limits = min(points) - room, max(points) + room

    def draw(panel: Axes, task: str) -> None:
        for y, (name, objective, _) in enumerate(rows):
            kind = family(results.objective(objective))
            if kind and (y, task) in gains:
                _draw_gain(panel, y, gains[y, task], kind.look, limits)
            if (name, task) in printed:
                x = 100 * printed[name, task]
                panel.plot(x, y + BELOW, "D", color=INK, markerfacecolor="#ffffff", markersize=5)
        panel.axvline(0, color=INK, linewidth=0.8)
        panel.set_xlim(*limits)
        panel.xaxis.set_major_locator(MaxNLocator(3, prune="both"))  # keeps adjacent panels' labels apart
        panel.set_yticks(range(len(rows)), [_row_name(results, *row) for row in rows])
        panel.set_ylim(len(rows) - 0.5, -0.5)

    families = filter(None, dict.fromkeys(family(results.objective(name)) for _, name, _ in rows))
    handles = [drawing.key(f"ours, {kind.plain.title}", *kind.look[:2]) for kind in families]
    handles.append(drawing.key("published, at the paper’s scale", INK, "D", "none"))
    cells = {setting[2:] for setting in settings}
    zero_shot = (record for record in results.records if record.measure == "ZS")
    return chart(
        "figure-ablations",
        results,
        [(f"{task_title(task)}\n{metric_title(PRIMARY[task])}", task) for task in tasks],
        draw,
        (len(tasks), 0.8 + 0.38 * len(rows)),
        handles,
        [record for record in zero_shot if (results.objective_of(record), record.language) in cells],
        [p for p in published if p.task in tasks],
        labels=("ZS gain", ""),
        sharex=True,
        sharey=True,
    )


def _gains(
    results: Results, rows: Sequence[Row], tasks: Sequence[str], default: str
) -> dict[tuple[int, str], Estimate]:
    """Return the differences from the default setting by row and task."""
    gains = {}
    for (y, (_, objective, transform)), task in product(enumerate(rows), tasks):
        scores = (results.scores("ZS", o, transform, task, PRIMARY[task]) for o in (objective, default))
        if gain := difference(*scores):
            gains[y, task] = gain
    return gains


def _row_name(results: Results, name: str, objective: str, transform: str) -> str:
    under = f" ({results.transform_title(transform)})" if len(results.transforms) > 1 else ""
    return drawing.wrapped(name.removesuffix(OWN) + under, NAMES)


def _published_gains(results: Results) -> tuple[list[Published], dict[tuple[str, str], float]]:
    """Return the numbers in Tables 3 to 7, and their differences from the default."""
    published = sorted((p for p in results.published if p.table in TABLES), key=lambda p: p.table)
    start = {p.task: p.value for p in published if p.table == 3 and p.setting == DEFAULT}
    return published, {(p.setting, p.task): p.value - start[p.task] for p in published if p.task in start}


def _draw_gain(panel: Axes, y: int, gain: Estimate, look: Look, limits: tuple[float, float]) -> None:
    """Draw a gain with its interval, and an arrow at each end that is beyond the axis."""
    drawing.draw_points(panel, [(y, gain)], look.colour, look.marker, across=True, markersize=6)
    for end, limit, side, arrow in zip(gain.interval or (), limits, (-1, 1), ARROWS, strict=False):
        if side * (100 * end - limit) > 0:
            style: dict[str, Any] = {"color": look.colour, "markersize": 6, "clip_on": False}
            panel.plot(limit, y, linestyle="", marker=arrow, **style)
