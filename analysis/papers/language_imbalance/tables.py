"""Token efficiency, and transfer and alignment between languages, by mixture and objective."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.columns import score_title
from analysis.papers.language_imbalance.conditions import (
    IDS,
    LOSS,
    Condition,
    between,
    conditions,
    efficiencies,
    measured,
)
from analysis.papers.texts import table
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, percent
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY

EFFICIENCY = "token efficiency"  # the published measure
DIRECTIONS = ("main → small", "small → main", "small → small")


def imbalance_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Every table of a study of mixtures, by the name of its file."""
    yield "token-efficiency", efficiency_table(results, scale)
    yield "transfer", transfer_table(results, scale)


def efficiency_table(results: Results, scale: str) -> Table:
    """Held-out loss and token efficiency of the main language and the small ones, and the published numbers."""
    rows: list[tuple[str, ...]] = []
    for condition in conditions(results):
        for objective in results.objectives:
            rows += _efficiency(results, condition, objective)
    for number in results.published:
        if number.measure == EFFICIENCY:
            languages, _, shares = number.setting.partition(" languages, ")
            cells = [*[MISSING] * 5, f"{number.value:.2f}", MISSING]
            rows.append((languages, shares, number.objective, PUBLISHED, *cells))
    read, nats = ("thousand ids read, main", "small, each"), ("held-out loss, main", "small")
    efficiency = ("token efficiency, main", "small", "small, against smaller batches")
    header = ("languages", "shares", "objective", "whose", *read, *nats, *efficiency)
    return table("token-efficiency", results, scale, header, rows, 4)


def _efficiency(results: Results, condition: Condition, objective: str) -> Iterator[tuple[str, ...]]:
    """The row of a mixture and an objective; none where nothing was measured."""
    groups = ([condition.main], list(condition.small))
    nats = [measured(results, condition, objective, group, LOSS) for group in groups]
    if any(nats):
        yield (
            *_labels(results, condition, objective),
            OURS,
            *(_thousands(measured(results, condition, objective, group, IDS)) for group in groups),
            *map(_nats, nats),
            *(str(efficiencies(results, condition, objective, group)) for group in groups),
            str(efficiencies(results, condition, objective, condition.small, "batch")),
        )


def _labels(results: Results, condition: Condition, objective: str) -> tuple[str, str, str]:
    return str(len(condition.languages)), condition.title, results.objective_title(objective)


def _thousands(column: BySeed) -> str:
    estimate = mean(column)
    return MISSING if estimate is None else f"{estimate.mean / 1000:,.0f}"


def _nats(column: BySeed) -> str:
    estimate = mean(column)
    if estimate is None:
        return MISSING
    return f"{estimate.mean:.3f}" + (f" ± {estimate.half:.3f}" if estimate.half is not None else "")


def transfer_table(results: Results, scale: str) -> Table:
    """Zero-shot transfer and held-out alignment@1 from the main language, to it, and between small ones."""
    rows: list[tuple[str, ...]] = []
    for condition in conditions(results):
        for objective in results.objectives:
            values: list[BySeed] = []
            for task in results.main_tasks:
                values += [between(results, condition, objective, condition.outward, task)]
                values += [between(results, condition, objective, condition.homeward, task)]
                for names in ([condition.main], condition.small):
                    values.append(measured(results, condition, objective, names, ("SUP", PRIMARY[task]), task))
            directions = condition.outward, condition.homeward, condition.across
            values += [between(results, condition, objective, pairs) for pairs in directions]
            if any(values):
                rows.append((*_labels(results, condition, objective), *map(cell, map(mean, values))))
    rows += _floors(results)
    kinds = (*DIRECTIONS[:2], "main supervised", "small supervised")
    heads = [f"{score_title(task)}, {kind}" for task in results.main_tasks for kind in kinds]
    aligned = (f"alignment@1 held-out, {way}" for way in DIRECTIONS)
    header, floors = ("languages", "shares", "objective", *heads, *aligned), ["floors"] if results.floors.all else []
    return table("transfer", results, scale, header, rows, 3, parts=floors)


def _floors(results: Results) -> Iterator[tuple[str, ...]]:
    """A row for each baseline: the mean over all languages but the first."""
    main, small = results.source, results.transforms
    ways = ([(main, name) for name in small], [(name, main) for name in small], [(main, main)], [(n, n) for n in small])
    for name, title in results.floors.baselines(results.main_tasks).items():
        cells = []
        for task in results.main_tasks:
            for pairs in ways:
                found = (results.floors.of(task, PRIMARY[task], tested, learnt).get(name) for learnt, tested in pairs)
                values = [floor.value for floor in found if floor]
                cells.append(percent(sum(values) / len(values)) if values else MISSING)
        yield MISSING, MISSING, f"{title} (floor)", *cells, *[MISSING] * 3
