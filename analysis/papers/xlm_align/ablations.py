"""Tabulate ablations of XLM-Align as in Tables 3 to 7 of its paper, and judge claims about its parts."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from calque.analysis.papers.columns import (
    RETAINED,
    Column,
    columns_of,
    main_metrics,
    printed_rows,
    rows_of,
    score_title,
    task_columns,
)
from calque.analysis.papers.findings import leader, transfer_findings
from calque.analysis.papers.texts import claim, table
from calque.analysis.records.record import AER, DELTA, LABELS, Described, Start
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, percent
from calque.analysis.results.measured import BySeed, judge_difference, judge_estimate, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim
from calque.analysis.tasks.catalog import PRIMARY, task_title
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


def errors(results: Results, objective: str, transform: str) -> BySeed:
    """Return the AER at the last measured layer, with the two sides encoded separately."""
    return results.scores(AER, objective, transform, "", "aer", layer=max(results.layers(AER), default=None))


def xlm_align_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield the tables of XLM-Align's ablations, each with its file name."""
    yield "starts", starts_table(results, scale)
    yield from _ablation_tables(results, scale)


def starts_table(results: Results, scale: str) -> Table:
    """Tabulate self-labels, alignment, AER and Delta, to show which starts let self-labelling work."""
    columns = columns_of("starts")
    for (joint, way), n in product(((False, ""), (True, ", joint")), results.layers(AER)):
        columns.append(Column(f"AER layer {n}{way}", AER, "aer", "", {"layer": n, "joint": joint}))
    columns += task_columns([DELTA], main_metrics(results))
    columns += task_columns([RETAINED], main_metrics(results)) if results.floors.all else []
    heads = [column.head for column in columns]
    rows = (row for transform in results.transforms for row in rows_of(results, columns, [transform]))
    return table("starts", results, scale, ("objective", "transform"), heads, rows)


def _ablation_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    every, start = settings(results), usual_start(results)
    labels = ("setting", "languages", "source")
    heads = [*(f"{score_title(task)} ZS" for task in TASKS), "AER, last layer", "precision of labels"]
    for number, entry in TABLES.items():
        ours = [setting for setting in every if setting.table == number]
        if not ours:
            continue
        rows: list[tuple[str, ...]] = []
        for _, name, objective, transform in ours:
            values = [results.scores("ZS", objective, transform, task, PRIMARY[task]) for task in TASKS]
            values += [errors(results, objective, transform), _precision(results, objective, transform)]
            title = results.transform_title(transform)
            rows.append((name or "XLM-Align", title, OURS, *map(cell, map(mean, values))))
        printed = printed_rows((p for p in results.published if p.table == number), ["setting"], "task")
        for name in (name for name in entry["settings"] if (name,) in printed):
            numbers = map(percent, map(printed[name,].get, TASKS))
            rows.append((name or "XLM-Align", "XTREME", PUBLISHED, *numbers, MISSING, MISSING))
        about: dict[str, Any] = {"about": entry["about"], "parts": {"aer": results.has(AER)}, "table": number}
        about["begins"] = _after(start) if start else " from random weights"
        yield f"table-{number}", table("ablations", results, scale, labels, heads, rows, **about)


def _precision(results: Results, objective: str, transform: str) -> BySeed:
    return results.scores(LABELS, objective, transform, "", "precision")


def xlm_align_claims(results: Results) -> Iterator[Claim]:
    """Yield the paper's headline claims about the objectives and transforms in the records."""
    wholes = [name for name in results.objectives if changes(results.objective(name)) == {}]
    for transform, whole in product(results.transforms, wholes):
        yield from _labelling(results, transform, whole)
        yield from _parts(results, transform, whole)


def _labelling(results: Results, transform: str, whole: str) -> Iterator[Claim]:
    start, cold, title = results.start(whole), variant(results, None), results.objective_title
    under, name = results.transform_title(transform), "labels-right" if start else "labels-right-from-scratch"
    verdict = judge_estimate(mean(_precision(results, whole, transform)), +1, MOST)
    yield claim(name, verdict, better=title(whole), under=under)
    if start and cold is not None:
        verdict = judge_difference(*(_precision(results, name, transform) for name in (whole, cold)))
        yield claim("more-labels-right", verdict, better=title(whole), worse=title(cold), under=under)
    golds = [variant(results, begun, labels="gold") for begun in ([None, start] if start else [None])]
    first = start.objective.name if start and start.objective.name in results.objectives else None
    for better, worse in [(whole, cold), (whole, first), *((gold, whole) for gold in golds)]:
        if better is not None and worse is not None and better != worse:
            rates = (errors(results, name, transform) for name in (better, worse))
            verdict = judge_difference(*rates, side=-1)
            yield claim("lower-aer", verdict, better=title(better), worse=title(worse), under=under)


def _parts(results: Results, transform: str, whole: str) -> Iterator[Claim]:
    start, under = results.start(whole), results.transform_title(transform)
    for part in ("DWA", "TLM", "filtering"):  # parts that help according to the paper
        without = variant(results, start, **SWITCHED[f"without {part}"])
        if without is None:
            continue
        about = {"part": part, "Part": part[0].upper() + part[1:], "after": _after(start), "under": under}
        verdict = judge_difference(*(errors(results, name, transform) for name in (whole, without)), side=-1)
        yield claim("part-lowers-aer", verdict, **about)
        about["where"] = "Table 6" if part == "filtering" else "Table 3"
        for task in results.main_tasks:
            scores = (results.scores("ZS", name, transform, task, PRIMARY[task]) for name in (whole, without))
            yield claim("part-helps", judge_difference(*scores), on=task_title(task), **about)


def xlm_align_findings(results: Results) -> Iterator[str]:
    """Report self-labels and error rates under the transform with the highest mean AER, and transfer."""
    rates = {t: {o: errors(results, o, t) for o in results.objectives} for t in results.transforms}
    means = {t: [rate.mean for its in by.values() if (rate := mean(its))] for t, by in rates.items()}
    if measured := [transform for transform in means if means[transform]]:
        hardest = max(measured, key=lambda transform: fmean(means[transform]))
        under = f"under {results.transform_title(hardest)}"
        own = {o: _precision(results, o, hardest) for o in results.objectives}
        for objective in results.objectives:
            if (changes(results.objective(objective)) or {}).get("labels") == "gold":
                del own[objective]
        yield from leader(results, f"precision of self-made labels {under}", own, +1)
        yield from leader(results, f"AER of the last layer {under}", rates[hardest], -1)
    yield from transfer_findings(results)
