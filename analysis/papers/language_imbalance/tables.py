"""Token efficiency, transfer and alignment by mixture: tables, headlines tested as claims, and findings."""

import math
from collections.abc import Iterator, Set

from analysis.papers.columns import main_metrics, score_title
from analysis.papers.language_imbalance.conditions import (
    IDS,
    LOSS,
    Condition,
    Efficiencies,
    alone,
    between,
    conditions,
    contrasts,
    curves,
    efficiencies,
    measured,
)
from analysis.papers.texts import table
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, listed, percent
from analysis.results.measured import BySeed, difference, judge_difference, mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.statistics.verdicts import FAILS, UNDECIDED, Claim, Verdict, judge
from analysis.tasks.catalog import task_title

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


TRANSFER, ALIGNED = "transfer", "alignment"  # families of claims, next to token efficiency
PAPER = "cloned languages; there 2.08 at 90/10 and 0.89 at 50/50"
STEPS = "ours: in as many steps, of fewer rows"
MORE = "cloned languages; there 3.56 with nine clones and 2.08 with one"
OPEN = "ours; the paper finds representations more alike where shares are unequal"
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
        return higher_efficiency(*(efficiencies(results, each, objective, each.small) for each in (ours, theirs)))

    by = results.objective_title(objective)
    unequals = [condition for condition in conditions(results) if condition.unequal]
    for condition in unequals:
        above = f"{by}: the token efficiency of the small is above 1 at {condition.title}"
        numbers = efficiencies(results, condition, objective, condition.small)
        yield Claim(above, PAPER, EFFICIENCY, above_one(numbers))
        if curves(results, "batch"):
            numbers = efficiencies(results, condition, objective, condition.small, "batch")
            against = f"{above}, against a language alone that takes as many steps"
            yield Claim(against, STEPS, EFFICIENCY, above_one(numbers))
    more = f"{by}: token efficiency of the small is higher"
    for equal, unequal in contrasts(results):
        text = f"{more} at {unequal.title} than at {equal.title}"
        yield Claim(text, PAPER, EFFICIENCY, higher(unequal, equal))
    by_size = sorted(unequals, key=lambda condition: len(condition.languages))
    if by_size and len(by_size[-1].languages) > len(by_size[0].languages):
        few, many = by_size[0], by_size[-1]
        text = (
            f"{more} with {len(many.languages)} languages ({many.title}) than with {len(few.languages)} ({few.title})"
        )
        yield Claim(text, MORE, EFFICIENCY, higher(many, few))


def _on_transfer(results: Results, objective: str) -> Iterator[Claim]:
    by = results.objective_title(objective)
    for equal, unequal in contrasts(results):
        for task in results.main_tasks:
            for way, words in (("outward", "to the small"), ("homeward", "from the small")):
                scores = (between(results, each, objective, getattr(each, way), task) for each in (unequal, equal))
                helps = f"{by}: imbalance helps transfer {words} on {task_title(task)}: {unequal.title} against"
                yield Claim(f"{helps} {equal.title}", OPEN, TRANSFER, judge_difference(*scores))
        shares = (between(results, each, objective, each.outward) for each in (unequal, equal))
        more = f"{by}: imbalance aligns more held-out types, {unequal.title} against {equal.title}"
        yield Claim(more, OPEN, ALIGNED, judge_difference(*shares))


def above_one(numbers: Efficiencies) -> Verdict:
    """Whether token efficiency is above 1."""
    return _judge(mean(numbers.logs), numbers.beyond, "")


def higher_efficiency(ours: Efficiencies, theirs: Efficiencies) -> Verdict:
    """Whether one token efficiency is higher than another; undecided where the end of a curve could have made it so."""
    beyond = ours.beyond | {-side for side in theirs.beyond}
    return _judge(difference(ours.logs, theirs.logs), beyond, " as high")


def _judge(estimate: Estimate | None, beyond: Set[int], what: str) -> Verdict:
    """Whether a logarithm is above 0, which is at least (`beyond` +1) or at most (-1) as large as is known.

    What may be lower does not let the claim hold, and what may be higher does not let it fail.
    """
    if -1 in beyond:
        return Verdict(UNDECIDED, BEYOND)
    verdict = judge([(estimate, 0.0, +1)], times(estimate, what)) if estimate else judge([], "")
    return Verdict(UNDECIDED, BEYOND) if verdict.verdict == FAILS and 1 in beyond else verdict


def times(estimate: Estimate, what: str) -> str:
    """A logarithm as a ratio, with its interval."""
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
            before, after = (efficiencies(results, each, objective, each.small) for each in (equal, unequal))
            ratios += [f"{after} at {unequal.title} and {before} at {equal.title}"] if after.logs else []
        if ratios:
            yield f"With {by} the token efficiency of the small languages is {listed(ratios)}."
        for task in results.main_tasks:
            scores = []
            for equal, unequal in contrasts(results):
                pair = (mean(between(results, each, objective, each.outward, task)) for each in (unequal, equal))
                high, low = pair
                if high and low:
                    shares = f"at {unequal.title} and {percent(low.mean)} at {equal.title}"
                    scores.append(f"{percent(high.mean)} % {shares}")
            if scores:
                yield f"With {by} zero-shot {task_title(task)} from the main language to the small is {listed(scores)}."
