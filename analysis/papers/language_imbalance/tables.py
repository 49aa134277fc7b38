"""Token efficiency, and transfer and alignment between languages, by mixture and objective."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.columns import main_metrics, score_title
from analysis.papers.language_imbalance.conditions import IDS, LOSS, between, conditions, efficiencies, measured
from analysis.papers.texts import table
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, percent
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results

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
            groups = ([condition.main], list(condition.small))
            read, nats = ([measured(results, condition, objective, g, n) for g in groups] for n in (IDS, LOSS))
            if any(nats):
                labels = str(len(condition.languages)), condition.title, results.objective_title(objective), OURS
                ratios = [efficiencies(results, condition, objective, group) for group in groups]
                ratios.append(efficiencies(results, condition, objective, condition.small, "batch"))
                rows.append((*labels, *map(_thousands, read), *map(_nats, nats), *map(str, ratios)))
    for number in results.published:
        if number.measure == EFFICIENCY:
            languages, _, shares = number.setting.partition(" languages, ")
            cells = [*[MISSING] * 5, f"{number.value:.2f}", MISSING]
            rows.append((languages, shares, number.objective, PUBLISHED, *cells))
    heads = ("thousand ids read, main", "small, each", "held-out loss, main", "small")
    efficiency = ("token efficiency, main", "small", "small, against smaller batches")
    header = ("languages", "shares", "objective", "whose", *heads, *efficiency)
    return table("token-efficiency", results, scale, header, rows, 4)


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
            for task, metric in main_metrics(results):
                for pairs in (condition.outward, condition.homeward):
                    values.append(between(results, condition, objective, pairs, task))
                for names in ([condition.main], condition.small):
                    values.append(measured(results, condition, objective, names, ("SUP", metric), task))
            for pairs in (condition.outward, condition.homeward, condition.across):
                values.append(between(results, condition, objective, pairs))
            if any(values):
                labels = str(len(condition.languages)), condition.title, results.objective_title(objective)
                rows.append((*labels, *map(cell, map(mean, values))))
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
        for task, metric in main_metrics(results):
            for pairs in ways:
                found = (results.floors.of(task, metric, tested, learnt).get(name) for learnt, tested in pairs)
                values = [floor.value for floor in found if floor]
                cells.append(percent(sum(values) / len(values)) if values else MISSING)
        yield MISSING, MISSING, f"{title} (floor)", *cells, *[MISSING] * 3
