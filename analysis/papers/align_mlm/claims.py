"""The headlines of ALIGN-MLM, tested as claims."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.records.record import ALIGNMENT
from analysis.results.measured import BySeed, difference, judge_difference, mean
from analysis.results.results import Results
from analysis.results.retained import unless_at_floor
from analysis.statistics.correlation import spearman
from analysis.statistics.intervals import CONFIDENCE
from analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED, Claim, Comparison, Verdict, judge, points
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

NEAR = 0.03
"""Delta "≈ 0": within 3 points. The paper's own largest under Trans is 2.6."""
CHANCE_MARGIN = 0.01
"""Alignment "near chance": at most one point above it. The paper's own is 0.3 points above."""
FEWEST = 3  # the least number of cells that have a rho
PAPERS = ("nli", "ner", "pos")  # the paper's tasks, of which claims are made whether a study has them or not
TRANSFER, ALIGNED, RHO = "transfer", "alignment", "correlation"  # the families of claims


def align_mlm_claims(results: Results, inverted: str = "trans.inv", script: str = "trans") -> list[Claim]:
    """The headlines of ALIGN-MLM, for the transforms that play Trans + Inv and Trans."""
    under, other = f"under {results.transform_title(inverted)}", results.transform_title(script)
    claims = []
    for task in (task for task in PRIMARY if task in {*PAPERS, *results.tasks}):
        metric = PRIMARY[task]
        on = f"on {task_title(task)} ({metric_title(metric)})"
        least = f"ALIGN-MLM’s Δ is the smallest {under} {on}"
        near = f"All objectives transfer well under {other} {on}: Δ ≤ {100 * NEAR:.0f} points"
        rho = f"ρ > 0.7 between alignment and −Δ {on}"
        tables, verdict = (
            "section 5, Figure 2, Table 3",
            extreme_delta(results, "ALIGN-MLM", inverted, task, metric, -1),
        )
        claims.append(Claim(least, tables, TRANSFER, verdict))
        verdict = extreme_delta(results, "MLM", inverted, task, metric, +1)
        claims.append(Claim(f"MLM’s Δ is the largest {under} {on}", "Figure 2, Table 3", TRANSFER, verdict))
        claims.append(Claim(near, "section 5, Figure 2", TRANSFER, all_near(results, script, task, metric)))
        claims.append(Claim(rho, "section 5, Figure 3, appendix E", RHO, correlated(results, task, metric, 0.7)))
    ours, theirs = (results.scores("ZS", o, inverted, "pos", "f1_bare_tags") for o in ("ALIGN-MLM", "XLM"))
    aligned = {name: results.alignments(name, inverted, "held-out") for name in results.objectives}
    return [
        *claims,
        Claim(
            f"ALIGN-MLM’s ZS is over 30 points above XLM’s {under} on POS (F1 on bare tags)",
            "abstract, section 5",
            TRANSFER,
            judge_difference(ours, theirs, +1, 0.3),
        ),
        Claim(
            f"MLM’s alignment@1 {under} is near chance (at most {100 * CHANCE_MARGIN:.0f} point above it)",
            "Table 8",
            ALIGNED,
            near_chance(results, inverted),
        ),
        Claim(
            f"ALIGN-MLM aligns more of the held-out types {under} than any other objective",
            "ours: the paper does not tell held-out types from those of the dictionary",
            ALIGNED,
            _beats_all(aligned, "ALIGN-MLM", +1),
        ),
    ]


def extreme_delta(results: Results, objective: str, transform: str, task: str, metric: str, side: int) -> Verdict:
    """Whether an objective's Delta is smaller (`side` -1) or larger (+1) than every other's."""
    deltas = {name: results.deltas(name, transform, task, metric) for name in results.objectives}
    cells = [(name, transform) for name in results.objectives]
    return unless_at_floor(_beats_all(deltas, objective, side), results, cells, task, metric)


def all_near(results: Results, transform: str, task: str, metric: str) -> Verdict:
    """Whether every objective's Delta is at most `NEAR`; a negative one transfers better than supervision."""
    means = {name: mean(results.deltas(name, transform, task, metric)) for name in results.objectives}
    deltas = {name: delta for name, delta in means.items() if delta}
    worst = max(deltas, key=lambda name: deltas[name].mean, default="")
    because = f"largest Δ of {len(deltas)}: {worst}, {points(deltas[worst])}" if deltas else ""
    verdict = judge([Comparison(delta, NEAR, -1) for delta in deltas.values()], because)
    return unless_at_floor(verdict, results, [(name, transform) for name in deltas], task, metric)


def near_chance(results: Results, transform: str) -> Verdict:
    """Whether MLM's alignment is at most `CHANCE_MARGIN` above chance, one in as many as there are types."""
    alignment = mean(results.alignments("MLM", transform, "all"))
    if not alignment:
        return judge([], "")
    chance = 1 / min(r.count for r in results.last(ALIGNMENT, "MLM", transform, "", "all").values())
    because = f"{points(alignment)}; chance {100 * chance:.2g}"
    return judge([Comparison(alignment, chance + CHANCE_MARGIN, -1)], because)


def correlated(results: Results, task: str, metric: str, least: float) -> Verdict:
    """Whether rho over all cells is above `least`, by the bootstrap interval over cells."""
    cells = [(cell.objective, cell.transform) for cell in results.points(task, metric)]
    return unless_at_floor(_correlated(results, task, metric, least), results, cells, task, metric)


def _correlated(results: Results, task: str, metric: str, least: float) -> Verdict:
    cells = results.points(task, metric)
    if len(cells) < FEWEST:
        return judge([], "")
    groups = [cell.transform for cell in cells]
    correlation = spearman([cell.alignment.mean for cell in cells], [cell.delta.mean for cell in cells], groups=groups)
    if correlation is None:
        return Verdict(UNDECIDED, f"ρ is not defined over {len(cells)} cells")
    seeds = min(cell.delta.seeds for cell in cells)
    covers = f"{correlation.n} cells of {seeds} seed{'s' if seeds > 1 else ''}"
    text = f"ρ = {correlation.rho:.3f}, p = {correlation.p:.2g}, {covers}"
    above, below = (correlation.beyond(least, side) for side in (+1, -1))
    if above is None or below is None:
        return Verdict(UNDECIDED, f"{text}: too few for an interval")
    text += f", 95 % interval [{correlation.low:.2f}, {correlation.high:.2f}]"
    if seeds < 2:
        return Verdict(ONE_SEED, text)
    p = min(1.0, 2 * above, 2 * below)
    return Verdict(UNDECIDED if p >= 1 - CONFIDENCE else HOLDS if above < below else FAILS, text, p)


def _beats_all(values: Mapping[str, BySeed], objective: str, side: int) -> Verdict:
    """Holds when every paired difference is beyond 0 on that side; fails when one is beyond 0 on the other."""
    differences = {o: difference(values.get(objective, {}), its) for o, its in values.items() if o != objective}
    gaps = {name: gap for name, gap in differences.items() if gap}
    closest = min(gaps, key=lambda name: side * gaps[name].mean, default="")
    because = f"{objective} − {closest}, the closest of {len(gaps)}: {points(gaps[closest])}" if gaps else ""
    return judge([Comparison(gap, 0.0, side) for gap in gaps.values()], because)
