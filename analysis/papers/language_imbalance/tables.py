"""Token efficiency, and transfer and alignment between languages, by mixture and objective."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.papers.language_imbalance.conditions import (
    Condition,
    across,
    average,
    between,
    conditions,
    efficiencies,
    homeward,
    ids,
    losses,
    outward,
    supervised,
)
from analysis.papers.language_imbalance.ratios import ratio
from analysis.records.record import Published
from analysis.report.pos_units import units_note
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, over_seeds, percent
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

EFFICIENCY = "token efficiency"
"""The published measure."""


def imbalance_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Every table of a study of mixtures, by the name of its file."""
    yield "token-efficiency", efficiency_table(results, scale)
    yield "transfer", transfer_table(results, scale)


def efficiency_table(results: Results, scale: str) -> Table:
    """Held-out loss and token efficiency of the main language and the small ones, beside the published numbers."""
    rows, printed = [], set()
    for condition in conditions(results):
        for objective in results.objectives:
            if row := _efficiency(results, condition, objective):
                rows.append((*_labels(results, condition, objective), OURS, *row))
    for number in results.published:
        if number.measure == EFFICIENCY:
            printed.add(len(rows))
            rows.append(_printed(number))
    return Table(
        f"Token efficiency, {scale}",
        (
            "languages",
            "shares",
            "objective",
            "whose",
            "thousand ids read, main",
            "small, each",
            "held-out loss, main",
            "small",
            "token efficiency, main",
            "small",
            "small, against smaller batches",
        ),
        tuple(rows),
        f"Token efficiency: how many ids of a language alone give the same loss on text that no model has read, over "
        f"the ids of it that the joint model read (Schäfer et al. 2024); above 1, the other languages helped. Between "
        f"the budgets that were run the loss of a language alone is interpolated in the logarithm of ids; ≥ and ≤: "
        f"beyond them, the end stands there. A language alone reads less in fewer steps of as many rows, or (last "
        f"column) in as many steps of fewer rows. Small: the mean over all languages but the first, its clones. "
        f"Losses in nats a masked id, 15 % of the ids being masked. {over_seeds(results.seeds)}; token efficiency: "
        f"the geometric mean and its interval. Published: other models (autoregressive), text and scale. {MISSING}: "
        "not measured or not printed.",
        frozenset(printed),
        results.run_ids(),
        labels=4,
    )


def transfer_table(results: Results, scale: str) -> Table:
    """Zero-shot transfer and held-out alignment@1 from the main language, to it, and between small ones."""
    tasks = [task for task in PRIMARY if task in results.tasks]
    rows = []
    for condition in conditions(results):
        for objective in results.objectives:
            values: list[BySeed] = []
            for task in tasks:
                values += [
                    between(results, condition, objective, outward(condition), task),
                    between(results, condition, objective, homeward(condition), task),
                    supervised(results, condition, objective, task, [condition.main]),
                    supervised(results, condition, objective, task, condition.small),
                ]
            directions = outward(condition), homeward(condition), across(condition)
            values += [between(results, condition, objective, pairs) for pairs in directions]
            if any(values):
                rows.append((*_labels(results, condition, objective), *map(cell, map(mean, values))))
    rows += _floors(results, tasks)
    heads = [
        f"{task_title(task)} {metric_title(PRIMARY[task])}, {kind}"
        for task in tasks
        for kind in ("main → small", "small → main", "main supervised", "small supervised")
    ]
    return Table(
        f"Transfer and alignment between languages, {scale}",
        (
            "languages",
            "shares",
            "objective",
            *heads,
            *(f"alignment@1 held-out, {way}" for way in ("main → small", "small → main", "small → small")),
        ),
        tuple(rows),
        f"Percent; {over_seeds(results.seeds)}. a → b: fine-tuned on a and tested on b without having seen its "
        "labels; supervised: both on the same. Small: the mean over all languages but the first. alignment@1: the "
        f"share of types outside the dictionary whose most similar row of the other language is their own image. "
        + units_note(results.records, tasks)
        + "Floors are baselines without a model, learnt and tested where models are. " * bool(results.floors.all)
        + f"{MISSING}: not measured, or there is no such pair.",
        runs=results.run_ids(),
        labels=3,
    )


def _floors(results: Results, tasks: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A row for each baseline: the mean over all languages but the first."""
    main, small = results.source, results.transforms
    ways = ([(main, name) for name in small], [(name, main) for name in small], [(main, main)], [(n, n) for n in small])
    for name, title in results.floors.baselines(tasks).items():
        cells = []
        for task in tasks:
            for pairs in ways:
                found = (results.floors.of(task, PRIMARY[task], tested, learnt).get(name) for learnt, tested in pairs)
                values = [floor.value for floor in found if floor]
                cells.append(percent(sum(values) / len(values)) if values else MISSING)
        yield MISSING, MISSING, f"{title} (floor)", *cells, *[MISSING] * 3


def _labels(results: Results, condition: Condition, objective: str) -> tuple[str, str, str]:
    return str(len(condition.languages)), condition.mixture.title, results.objective_title(objective)


def _efficiency(results: Results, condition: Condition, objective: str) -> tuple[str, ...]:
    """The numbers of a row; none where nothing was measured."""
    groups = ([condition.main], list(condition.small))
    read = [average(ids(results, condition, objective, name) for name in group) for group in groups]
    nats = [average(losses(results, condition, objective, name) for name in group) for group in groups]
    if not any(nats):
        return ()
    return (
        *(_thousands(column) for column in read),
        *(_nats(column) for column in nats),
        *(ratio(efficiencies(results, condition, objective, group)) for group in groups),
        ratio(efficiencies(results, condition, objective, condition.small, "batch")),
    )


def _thousands(column: BySeed) -> str:
    estimate = mean(column)
    return MISSING if estimate is None else f"{estimate.mean / 1000:,.0f}"


def _nats(column: BySeed) -> str:
    estimate = mean(column)
    if estimate is None:
        return MISSING
    return f"{estimate.mean:.3f}" + (f" ± {estimate.half:.3f}" if estimate.half is not None else "")


def _printed(number: Published) -> tuple[str, ...]:
    """A row of the paper's: the setting says how many languages and their shares."""
    languages, _, shares = number.setting.partition(" languages, ")
    unknown = [MISSING] * 5
    return languages, shares, number.objective, PUBLISHED, *unknown, f"{number.value:.2f}", MISSING
