"""Token efficiency, transfer and alignment by mixture: tables, headlines tested as claims, and findings."""

import math
from collections.abc import Iterator, Set

from calque.analysis.papers.columns import main_metrics, score_title
from calque.analysis.papers.language_imbalance.conditions import (
    IDS,
    LOSS,
    Condition,
    Efficiencies,
    alone,
    conditions,
    contrasts,
    curves,
)
from calque.analysis.papers.texts import claim, table
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, decimal, listed, percent
from calque.analysis.results.measured import difference, judge_difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.statistics.verdicts import FAILS, UNDECIDED, Claim, Verdict, judge
from calque.analysis.tasks.catalog import task_title

EFFICIENCY = "token efficiency"  # the published measure, and a family of claims
DIRECTIONS = ("main → small", "small → main", "small → small")


def imbalance_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Token efficiency with the published numbers, and transfer and alignment with the floors."""
    efficiency, transfer = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for condition in conditions(results):
        for objective in results.objectives:
            labels = str(condition.size), condition.title, results.objective_title(objective)
            if cells := _efficiency_cells(condition, objective):
                efficiency.append((*labels, OURS, *cells))
            if cells := _transfer_cells(condition, objective):
                transfer.append((*labels, *cells))
    for number in results.published:
        if number.measure == EFFICIENCY:
            languages, _, shares = number.setting.partition(" languages, ")
            cells = [*[MISSING] * 5, f"{number.value:.2f}", MISSING]
            efficiency.append((languages, shares, number.objective, PUBLISHED, *cells))
    labels = ("languages", "shares", "objective")
    amounts = ("thousand ids read, main", "small, each", "held-out loss, main", "small")
    ratios = ("token efficiency, main", "small", "small, against smaller batches")
    header: tuple[str, ...] = (*labels, "whose", *amounts, *ratios)
    yield "token-efficiency", table("token-efficiency", results, scale, header, efficiency, 4)
    kinds = (*DIRECTIONS[:2], "main supervised", "small supervised")
    heads = [f"{score_title(task)}, {kind}" for task in results.main_tasks for kind in kinds]
    header, floors = (*labels, *heads, *(f"alignment@1 held-out, {way}" for way in DIRECTIONS)), _floors(results)
    parts = {"floors": results.floors.all}
    yield "transfer", table("transfer", results, scale, header, [*transfer, *floors], 3, parts=parts)


def _efficiency_cells(condition: Condition, objective: str) -> list[str]:
    """Ids read, held-out loss and token efficiency of the main language and of the small ones; none without a loss."""
    groups = ([condition.main], condition.small)
    read, nats = ([mean(condition.mean_of(objective, group, n)) for group in groups] for n in (IDS, LOSS))
    if not any(nats):
        return []
    ratios = [condition.efficiencies(objective, group) for group in groups]
    ratios.append(condition.efficiencies(objective, condition.small, "batch"))
    thousands = [MISSING if amount is None else f"{amount.mean / 1000:,.0f}" for amount in read]
    return [*thousands, *(decimal(each, 3) for each in nats), *map(str, ratios)]


def _transfer_cells(condition: Condition, objective: str) -> list[str]:
    """Zero-shot transfer from the main language and to it, scores with supervision, and alignment; none without any."""
    values = []
    for task, metric in main_metrics(condition.results):
        for pairs in (condition.outward, condition.homeward):
            values.append(condition.between(objective, pairs, task))
        for names in ([condition.main], condition.small):
            values.append(condition.mean_of(objective, names, ("SUP", metric), task))
    for pairs in (condition.outward, condition.homeward, condition.across):
        values.append(condition.between(objective, pairs))
    return [cell(mean(value)) for value in values] if any(values) else []


def _floors(results: Results) -> Iterator[tuple[str, ...]]:
    """A row for each baseline: the mean over all languages except the first."""
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


BEYOND = "beyond the budgets of the language alone"


def imbalance_claims(results: Results) -> list[Claim]:
    """The headlines for the mixtures and objectives that the records have."""
    claims: list[Claim] = []
    for objective in results.objectives:
        claims += _on_efficiency(results, objective) if alone(results) else ()
        claims += _on_transfer(results, objective)
    return claims


def _on_efficiency(results: Results, objective: str) -> Iterator[Claim]:
    def higher(ours: Condition, theirs: Condition) -> Verdict:
        return higher_efficiency(*(each.efficiencies(objective, each.small) for each in (ours, theirs)))

    by, unequals = results.objective_title(objective), [c for c in conditions(results) if c.unequal]
    for condition in unequals:
        verdict = above_one(condition.efficiencies(objective, condition.small))
        yield claim("efficiency-above-one", verdict, by=by, at=condition.title)
        if curves(results, "batch"):
            verdict = above_one(condition.efficiencies(objective, condition.small, "batch"))
            yield claim("efficiency-above-one-by-batch", verdict, by=by, at=condition.title)
    for equal, unequal in contrasts(results):
        verdict = higher(unequal, equal)
        yield claim("efficiency-higher-than-equal", verdict, by=by, at=unequal.title, equal=equal.title)
    by_size = sorted(unequals, key=lambda condition: condition.size)
    if by_size and by_size[-1].size > by_size[0].size:
        few, many = by_size[0], by_size[-1]
        yield claim("efficiency-higher-with-more", higher(many, few), by=by, many=many, few=few)


def _on_transfer(results: Results, objective: str) -> Iterator[Claim]:
    for equal, unequal in contrasts(results):
        about = {"by": results.objective_title(objective), "at": unequal.title, "equal": equal.title}
        for task in results.main_tasks:
            for name, way in (("imbalance-helps-to", "outward"), ("imbalance-helps-from", "homeward")):
                scores = (each.between(objective, getattr(each, way), task) for each in (unequal, equal))
                yield claim(name, judge_difference(*scores), on=task_title(task), **about)
        shares = (each.between(objective, each.outward) for each in (unequal, equal))
        yield claim("imbalance-aligns-more", judge_difference(*shares), **about)


def above_one(numbers: Efficiencies) -> Verdict:
    """Whether token efficiency is above 1."""
    return _judge(mean(numbers.logs), numbers.beyond, "")


def higher_efficiency(ours: Efficiencies, theirs: Efficiencies) -> Verdict:
    """Whether one token efficiency is higher than another; undecided if the end of a curve may be the reason."""
    beyond = ours.beyond | {-side for side in theirs.beyond}
    return _judge(difference(ours.logs, theirs.logs), beyond, " as high")


def _judge(estimate: Estimate | None, beyond: Set[int], what: str) -> Verdict:
    """Whether a logarithm is above 0, if it may be larger (`beyond` +1) or smaller (-1) than the curves show. If it may
    be smaller the claim is undecided; if it may be larger the claim cannot fail."""
    if -1 in beyond:
        return Verdict(UNDECIDED, BEYOND)
    verdict = judge([(estimate, 0.0, +1)], _times(estimate, what)) if estimate else judge([], "")
    return Verdict(UNDECIDED, BEYOND) if verdict.verdict == FAILS and 1 in beyond else verdict


def _times(estimate: Estimate, what: str) -> str:
    ratio = f"{math.exp(estimate.mean):.2f} times{what}"
    if estimate.interval is None:
        return f"{ratio}, {'one seed' if estimate.seeds == 1 else 'seeds that do not differ'}"
    low, high = map(math.exp, estimate.interval)
    return f"{ratio}, 95 % interval [{low:.2f}, {high:.2f}], {estimate.seeds} seeds"


def imbalance_findings(results: Results) -> Iterator[str]:
    """Token efficiency, then transfer, in unequal and in equal amounts."""
    for objective in results.objectives:
        by, ratios = results.objective_title(objective), []
        for equal, unequal in contrasts(results):
            before, after = (each.efficiencies(objective, each.small) for each in (equal, unequal))
            ratios += [f"{after} at {unequal.title} and {before} at {equal.title}"] if after.logs else []
        if ratios:
            yield f"With {by} the token efficiency of the small languages is {listed(ratios)}."
        for task in results.main_tasks:
            scores = []
            for equal, unequal in contrasts(results):
                high, low = (mean(each.between(objective, each.outward, task)) for each in (unequal, equal))
                if high and low:
                    shares = f"at {unequal.title} and {percent(low.mean)} at {equal.title}"
                    scores.append(f"{percent(high.mean)} % {shares}")
            if scores:
                transfer = f"zero-shot {score_title(task)} from the main language to the small"
                yield f"With {by} {transfer} is {listed(scores)}."
