"""XLM-Align's variants among a study's objectives, and Tables 3 to 7: ablations of the objective's parts and values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.papers.columns import RETAINED, Column, main_metrics, rows_of, score_title, task_columns
from analysis.papers.texts import table
from analysis.records.record import AER, ALIGNMENT, DELTA, LABELS, Published, Record
from analysis.records.run import Described, Start
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, percent
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY
from pretrain.objectives.xlm_align import XLMAlign

SWITCHES = ("tlm", "queries", "labels", "label_layer", "first", "filtering", "layer")
"""Parameters that Tables 3 to 7 vary; mask rate and the fraction of parallel sentences belong to a study's scale."""
DEFAULTS: dict[str, Any] = {switch: getattr(XLMAlign(), switch) for switch in SWITCHES}
DEFAULT = ""  # the setting that the paper's tables compare with: all of XLM-Align as it is
NEITHER = "without DWA, without TLM"
TABLES = {
    3: ("the parts of XLM-Align", (DEFAULT, "without DWA", "without TLM", NEITHER)),
    4: ("the layer that labels itself", (DEFAULT, "self-labelling layer 8", "self-labelling layer 12")),
    5: ("the layer that learns denoising word alignment", ("DWA layer 8", "DWA layer 10", "DWA layer 12")),
    6: ("filtering of the self-labelled links", (DEFAULT, "without filtering")),
    7: ("the positions that query", (DEFAULT, "queries unmasked", "queries all-aligned", "without DWA")),
}
SWITCHED: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "without DWA": {"queries": "none"},
    "without TLM": {"tlm": False},
    "without filtering": {"filtering": False},
    "queries unmasked": {"queries": "unmasked"},
    "queries all-aligned": {"queries": "all-aligned"},
}
"""The switches of a setting; layers are not in it, for a small model has others."""
LAYERS = {4: ("label_layer", "self-labelling layer"), 5: ("layer", "DWA layer")}
"""The switch that a table of layers turns, and its name there."""
TASKS = ("nli", "ner", "pos", "qa")  # the paper's
STARTS = (
    Column("labels right", LABELS, "precision"),
    Column("words labelled", LABELS, "share"),
    Column("alignment@1 all", ALIGNMENT, "all"),
    Column("alignment@1 held-out", ALIGNMENT, "held-out"),
)


def changes(objective: Described) -> dict[str, Any] | None:
    """The switches that differ from the paper's XLM-Align; None for an objective that is not a variant of it."""
    part = objective.part("DWA")
    return None if part is None else {name: part[name] for name in SWITCHES if part[name] != DEFAULTS[name]}


def variant(results: Results, start: Start | None, **switches: Any) -> str | None:
    """The name of the objective that is XLM-Align with these switches from that start, if the study has it."""
    names = (name for name in results.objectives if results.start(name) == start)
    return next((name for name in names if changes(results.objective(name)) == switches), None)


def plain_mlm(results: Results, start: Start | None) -> str | None:
    """The name of MLM alone from that start: XLM-Align without TLM and without DWA."""
    names = (name for name in results.objectives if results.start(name) == start)
    return next((n for n in names if [part["kind"] for part in results.objective(n).parts] == ["MLM"]), None)


def usual_start(results: Results) -> Start | None:
    """The start of most variants of XLM-Align."""
    starts = [results.start(name) for name in results.objectives if changes(results.objective(name)) is not None]
    return max(starts, key=starts.count, default=None)


def after(start: Start | None) -> str:
    """The start in words, as the end of a name."""
    return f" after {start.title}" if start else ""


@dataclass(frozen=True)
class Setting:
    """A row of a table: the paper's name for it, and the objective and transform that it is here."""

    table: int
    name: str
    objective: str
    transform: str


def settings(results: Results) -> list[Setting]:
    """Every setting of which the records have an objective, our own layers among them.

    A table that would say no more than XLM-Align itself, or than Table 3, is left out.
    """
    start, chosen = usual_start(results), list[Setting]()
    switched = [changes(results.objective(name)) or {} for name in results.objectives]
    for number, (_, printed) in TABLES.items():
        names = [name for name in dict.fromkeys((DEFAULT, *printed)) if name in SWITCHED]
        rows = {name: variant(results, start, **SWITCHED[name]) for name in names}
        rows |= {NEITHER: plain_mlm(results, start)} if NEITHER in printed else {}
        if number in LAYERS:
            switch, word = LAYERS[number]
            for layer in sorted({its[switch] for its in switched if switch in its}):
                rows[f"{word} {layer}, of ours"] = variant(results, start, **{switch: layer})
        chosen += [
            Setting(number, name, objective, transform)
            for transform in results.transforms
            for name, objective in rows.items()
            if objective is not None
        ]
    of = {number: {s.name for s in chosen if s.table == number} for number in TABLES}
    repeated = {number for number in TABLES if of[number] <= ({DEFAULT} if number == 3 else of[3] | {DEFAULT})}
    return [setting for setting in chosen if setting.table not in repeated]


def errors(results: Results, objective: str, transform: str) -> BySeed:
    """AER of the last layer that was measured, each side encoded alone."""
    return results.scores(AER, objective, transform, "", "aer", layer=max(results.layers(AER), default=None))


def published_in(results: Results, table: int) -> list[Published]:
    """The published numbers of a table."""
    return [p for p in results.published if p.table == table]


def records_of(results: Results, rows: Sequence[Setting], measures: Sequence[str]) -> list[Record]:
    """The records of some measures that settings show."""
    cells = {(s.objective, s.transform) for s in rows}
    return [r for r in results.records if r.measure in measures and (results.objective_of(r), r.language) in cells]


def xlm_align_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Every table of a study of XLM-Align, by the name of its file."""
    yield "starts", starts_table(results, scale)
    yield from ablation_tables(results, scale)


def starts_table(results: Results, scale: str) -> Table:
    """Which initialisation makes self-labelling work: labels, alignment, AER and Delta by objective and transform."""
    columns = [*STARTS]
    for joint, way in ((False, ""), (True, ", joint")):
        for n in results.layers(AER):
            columns.append(Column(f"AER layer {n}{way}", AER, "aer", "", {"layer": n, "joint": joint}))
    columns += task_columns([DELTA], main_metrics(results))
    columns += task_columns([RETAINED], main_metrics(results)) if results.floors.all else []
    header = ("objective", "transform", *(column.head for column in columns))
    return table("starts", results, scale, header, rows_of(results, columns, by_language=True), 2)


def ablation_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Tables 3 to 7 with the paper's rows below ours: zero-shot scores, and the quality of the alignment."""
    every = settings(results)
    heads = [f"{score_title(task)} ZS" for task in TASKS]
    for number, (title, names) in TABLES.items():
        ours = [setting for setting in every if setting.table == number]
        if not ours:
            continue
        rows: list[tuple[str, ...]] = []
        for setting in ours:
            cell_of = setting.objective, setting.transform
            values = [results.scores("ZS", *cell_of, task, PRIMARY[task]) for task in TASKS]
            values += [errors(results, *cell_of), results.scores(LABELS, *cell_of, "", "precision")]
            title_of = results.transform_title(setting.transform)
            rows.append((setting.name or "XLM-Align", title_of, OURS, *map(cell, map(mean, values))))
        for name in names:
            printed = {p.task: percent(p.value) for p in published_in(results, number) if p.setting == name}
            numbers = [*(printed.get(task, MISSING) for task in TASKS), MISSING, MISSING]
            rows += [(name or "XLM-Align", "XTREME", PUBLISHED, *numbers)] if printed else []
        header = ("setting", "languages", "source", *heads, "AER, last layer", "precision of labels")
        start = usual_start(results)
        about = {"about": title, "begins": after(start) if start else " with weights that are drawn"}
        parts = ["aer"] if results.has(AER) else []
        ablations = table("ablations", results, scale, header, rows, 3, parts=parts, table=number, **about)
        runs = {r.run for r in records_of(results, ours, ("ZS", AER, LABELS))}
        yield f"table-{number}", replace(ablations, runs=tuple(sorted(runs)))
