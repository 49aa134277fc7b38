"""Judge the main claims made in the ALIGN-MLM paper, and report the best objectives in sentences."""

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean

from calque.analysis.papers.align_mlm.figures import compared_metrics, rho_of
from calque.analysis.papers.columns import HELD_OUT_TYPES, Average, Column, score_title, task_columns
from calque.analysis.papers.texts import claim
from calque.analysis.records.record import ALIGNMENT, DELTA
from calque.analysis.report.table import percent
from calque.analysis.results.measured import difference, judge_difference, mean
from calque.analysis.results.results import Point, Results, unless_at_floor
from calque.analysis.statistics.intervals import CONFIDENCE, LEAST, Estimate
from calque.analysis.statistics.verdicts import (
    FAILS,
    HOLDS,
    ONE_SEED,
    UNDECIDED,
    Claim,
    Verdict,
    judge,
    points,
)
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title
from calque.derive.transforms import REWRITES

INVERTED, SCRIPT = "trans.inv", "trans"  # the transforms in the paper's headline claims
NEAR = 0.03  # "≈ 0" means a Delta of at most 3 points; the paper's largest under Trans is 2.6
CHANCE_MARGIN = 0.01  # "near chance" means at most one point above it; in the paper, it is 0.3 points
PAPERS = ("nli", "ner", "pos")  # the paper's tasks; claims cover them even if a study lacks them


def align_mlm_claims(results: Results) -> list[Claim]:
    """Return ALIGN-MLM's headline claims with their verdicts."""
    under, script, claims = results.transform_title(INVERTED), results.transform_title(SCRIPT), list[Claim]()
    for task in (task for task in PRIMARY if task in {*PAPERS, *results.tasks}):
        on = _on(task)
        least = extreme_delta(results, "ALIGN-MLM", INVERTED, task, -1)
        claims.append(claim("smallest-delta", least, under=under, on=on))
        # With only these two objectives, the next claim would repeat the previous one.
        if {*results.objectives} != {"ALIGN-MLM", "MLM"}:
            most = extreme_delta(results, "MLM", INVERTED, task, +1)
            claims.append(claim("largest-delta", most, under=under, on=on))
        near = all_near(results, SCRIPT, task)
        claims.append(claim("all-near", near, script=script, on=on, near=100 * NEAR))
        claims.append(claim("correlated", correlated(results, task, 0.7), on=on))
    ours, theirs = (results.scores("ZS", o, INVERTED, "pos", "f1_bare_tags") for o in ("ALIGN-MLM", "XLM"))
    aligned = _beats_all(results, HELD_OUT_TYPES, INVERTED, "ALIGN-MLM", +1)
    return [
        *claims,
        *changed_words(results),
        claim("far-above", judge_difference(ours, theirs, bound=0.3), under=under),
        claim("near-chance", _near_chance(results, INVERTED), under=under, margin=100 * CHANCE_MARGIN),
        claim("most-held-out", aligned, under=under),
    ]


def _on(task: str) -> str:
    return f"{task_title(task)} ({metric_title(PRIMARY[task])})"


def changed_words(results: Results) -> Iterator[Claim]:
    """For each transform that changes words, yield one claim per objective and task: that the objective loses
    more under it than under the same transform without that change."""
    parts = {name: results.transform(name).parts for name in results.transforms}
    for changed, theirs in parts.items():
        rest = tuple(part for part in theirs if part["kind"] not in REWRITES)
        base = next((name for name, its in parts.items() if its == rest != theirs), "")
        under, script = results.transform_title(changed), results.transform_title(base)
        for objective, task in product(results.objectives, results.tasks) if base else ():
            cells = [(objective, changed), (objective, base)]
            verdict = judge_difference(*(results.scores(DELTA, *cell, task, PRIMARY[task]) for cell in cells))
            verdict = unless_at_floor(verdict, results, cells, task, PRIMARY[task])
            about = {"on": _on(task), "under": under, "script": script}
            yield claim("loses-more", verdict, objective=results.objective_title(objective), **about)


def extreme_delta(results: Results, objective: str, transform: str, task: str, side: int) -> Verdict:
    """Judge whether an objective's Delta is smaller (`side` -1) or larger (+1) than all others'."""
    metric, cells = PRIMARY[task], [(name, transform) for name in results.objectives]
    verdict = _beats_all(results, Column("Δ", DELTA, metric, task), transform, objective, side)
    return unless_at_floor(verdict, results, cells, task, metric)


def all_near(results: Results, transform: str, task: str) -> Verdict:
    """Judge whether every objective's Delta is at most `NEAR`."""
    means = {
        name: mean(results.scores(DELTA, name, transform, task, PRIMARY[task])) for name in results.objectives
    }
    deltas = {name: delta for name, delta in means.items() if delta}
    worst = max(deltas, key=lambda name: deltas[name].mean, default="")
    largest = f"largest Δ of {len(deltas)}" if len(deltas) > 1 else "Δ"
    because = f"{largest}: {worst}, {points(deltas[worst])}" if deltas else ""
    verdict = judge([(delta, NEAR, -1) for delta in deltas.values()], because)
    return unless_at_floor(verdict, results, [(name, transform) for name in deltas], task, PRIMARY[task])


def _near_chance(results: Results, transform: str) -> Verdict:
    alignment = mean(results.scores(ALIGNMENT, "MLM", transform, "", "all"))
    if not alignment:
        return judge([], "")
    chance = 1 / min(r.count for r in results.last(ALIGNMENT, "MLM", transform, "", "all").values())
    return judge([(alignment, chance + CHANCE_MARGIN, -1)], f"{points(alignment)}; chance {100 * chance:.2g}")


def correlated(results: Results, task: str, least: float) -> Verdict:
    """Judge, by bootstrapping cells, whether the rank correlation of alignment and -Delta exceeds `least`."""
    cells = results.points(task, PRIMARY[task])
    pairs = [(cell.objective, cell.transform) for cell in cells]
    return unless_at_floor(_above(cells, least), results, pairs, task, PRIMARY[task])


def _above(cells: list[Point], least: float) -> Verdict:
    if len(cells) < LEAST:
        return judge([], "")
    if (rho := rho_of(cells)) is None:
        return Verdict(UNDECIDED, f"ρ is not defined over {len(cells)} cells")
    seeds = min(cell.delta.seeds for cell in cells)
    text = f"ρ = {rho.rho:.3f}, p = {rho.p:.2g}, {rho.n} cells of {seeds} seed{'s' if seeds > 1 else ''}"
    above, below = (rho.beyond(least, side) for side in (+1, -1))
    if above is None or below is None:
        return Verdict(UNDECIDED, f"{text}: too few for an interval")
    text += f", 95 % interval [{rho.low:.2f}, {rho.high:.2f}]"
    if seeds < 2:
        return Verdict(ONE_SEED, text)
    p = min(1.0, 2 * above, 2 * below)
    return Verdict(UNDECIDED if p >= 1 - CONFIDENCE else HOLDS if above < below else FAILS, text, p)


def _beats_all(results: Results, column: Column, transform: str, objective: str, side: int) -> Verdict:
    ours, gaps = column.values(results, objective, transform), dict[str, Estimate]()
    for other in results.objectives:
        if other != objective and (gap := difference(ours, column.values(results, other, transform))):
            gaps[other] = gap
    closest = min(gaps, key=lambda name: side * gaps[name].mean, default="")
    of = f", the closest of {len(gaps)}" if len(gaps) > 1 else ""
    because = f"{objective} − {closest}{of}: {points(gaps[closest])}" if gaps else ""
    return judge([(gap, 0.0, side) for gap in gaps.values()], because)


def leader(
    results: Results,
    number: str,
    column: Column | Average,
    transform: str,
    side: int,
    unit: str = "%",
    objectives: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield a sentence on the two objectives (default: of all) with the largest (`side` +1) or smallest (-1)
    means, if at least two were measured. It says "beyond seed noise" if the first beats every other objective
    in a comparison paired by seed, and the two printed numbers differ."""
    names = results.objectives if objectives is None else objectives
    values = {name: column.values(results, name, transform) for name in names}
    means = {objective: estimate.mean for objective, its in values.items() if (estimate := mean(its))}
    if len(means) < 2:
        return
    first, second, *others = sorted(means, key=lambda objective: -side * means[objective])
    best, following = percent(means[first]), percent(means[second])
    leads = best != following
    for other in (second, *others):
        gap = difference(values[first], values[other])
        leads &= gap is not None and judge([(gap, 0.0, side)], "").verdict == HOLDS
    noise = "one seed supports no conclusion" if len(results.seeds) < 2 else "within seed noise"
    word, certain = "highest" if side > 0 else "lowest", "beyond seed noise" if leads else noise
    one, other = map(results.objective_title, (first, second))
    yield f"{number}: {word} with {one}, {best} {unit}, then {other}, {following} {unit} ({certain})."


def hardest_transform(results: Results, columns: Sequence[Column]) -> str | None:
    """Return the transform with the highest mean over objectives and columns; None without any numbers."""
    losses = dict[str, float]()
    for transform in results.transforms:
        cells = product(results.objectives, columns)
        values = [mean(column.values(results, objective, transform)) for objective, column in cells]
        if means := [estimate.mean for estimate in values if estimate]:
            losses[transform] = fmean(means)
    return max(losses, key=losses.__getitem__, default=None)


def transfer_findings(results: Results) -> Iterator[str]:
    """Name the objectives that lose least on each task and align best, under the transform with the largest
    mean Δ."""
    deltas = task_columns([DELTA], compared_metrics(results).items())
    if (hardest := hardest_transform(results, deltas)) is None:
        return
    under = f"under {results.transform_title(hardest)}"
    for column in deltas:
        loss = f"Δ on {score_title(column.task, column.metric)} {under}"
        yield from leader(results, loss, column, hardest, -1, "points")
    yield from leader(results, f"alignment@1 of held-out types {under}", HELD_OUT_TYPES, hardest, +1)
