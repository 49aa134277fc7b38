"""A paper's headlines, tested as claims: each holds, does not hold, or is undecided, with an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from analysis.records.record import ALIGNMENT
from analysis.records.results import PRIMARY, BySeed, Results, difference, mean, metric_name, task_name, transform_name
from analysis.statistics.correlation import spearman
from analysis.statistics.intervals import Estimate

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
NEAR = 0.03
"""Delta "≈ 0": within 3 points. The paper's own largest under Trans is 2.6."""
CHANCE_MARGIN = 0.01
"""Alignment "near chance": at most one point above it. The paper's own is 0.3 points above."""


@dataclass(frozen=True)
class Verdict:
    """What the records say of a claim, and the number and interval that it rests on."""

    verdict: str
    because: str


@dataclass(frozen=True)
class Claim:
    """A headline, where it stands, and how records are asked about it."""

    text: str
    where: str
    test: Callable[[Results], Verdict]


def align_mlm_claims(inverted: str = "trans.inv", script: str = "trans") -> list[Claim]:
    """The headlines of ALIGN-MLM, for the transforms that play Trans + Inv and Trans."""
    name, other = transform_name(inverted), transform_name(script)
    claims = []
    for task, metric in PRIMARY.items():
        on = f"on {task_name(task)} ({metric_name(metric)})"
        claims += [
            Claim(
                f"ALIGN-MLM’s Δ is the smallest under {name} {on}",
                "section 5, Figure 2, Table 3",
                partial(extreme_delta, objective="ALIGN-MLM", transform=inverted, side=-1, task=task, metric=metric),
            ),
            Claim(
                f"MLM’s Δ is the largest under {name} {on}",
                "Figure 2, Table 3",
                partial(extreme_delta, objective="MLM", transform=inverted, side=+1, task=task, metric=metric),
            ),
            Claim(
                f"All objectives transfer well under {other} {on}: Δ ≤ {100 * NEAR:.0f} points",
                "section 5, Figure 2",
                partial(all_near, transform=script, task=task, metric=metric),
            ),
            Claim(
                f"ρ > 0.7 between alignment and −Δ {on}",
                "section 5, Figure 3, appendix E",
                partial(correlated, least=0.7, task=task, metric=metric),
            ),
        ]
    return [
        *claims,
        Claim(
            f"ALIGN-MLM’s ZS is over 30 points above XLM’s under {name} on POS (F1 on bare tags)",
            "abstract, section 5",
            partial(
                ahead,
                ours="ALIGN-MLM",
                theirs="XLM",
                transform=inverted,
                task="pos",
                metric="f1_bare_tags",
                least=0.3,
            ),
        ),
        Claim(
            f"MLM’s alignment@1 under {name} is near chance (at most {100 * CHANCE_MARGIN:.0f} point above it)",
            "Table 8",
            partial(near_chance, transform=inverted),
        ),
        Claim(
            f"ALIGN-MLM aligns more of the held-out types under {name} than any other objective",
            "ours: the paper does not tell held-out types from those of the dictionary",
            partial(most_aligned, objective="ALIGN-MLM", transform=inverted, metric="held-out"),
        ),
    ]


def extreme_delta(results: Results, objective: str, transform: str, task: str, metric: str, side: int) -> Verdict:
    """Whether an objective's Delta is smaller (`side` -1) or larger (+1) than every other's."""
    return _beats_all(
        {name: results.deltas(name, transform, task, metric) for name in results.objectives}, objective, side
    )


def most_aligned(results: Results, objective: str, transform: str, metric: str) -> Verdict:
    """Whether an objective's alignment is greater than every other's."""
    return _beats_all({name: results.alignments(name, transform, metric) for name in results.objectives}, objective, +1)


def all_near(results: Results, transform: str, task: str, metric: str) -> Verdict:
    """Whether every objective's Delta is at most `NEAR`; a negative one transfers better than supervision."""
    found = {name: mean(results.deltas(name, transform, task, metric)) for name in results.objectives}
    known = {name: delta for name, delta in found.items() if delta}
    if not known:
        return Verdict(UNDECIDED, "no records")
    worst = max(known, key=lambda name: known[name].mean)
    verdicts = [compare(delta, NEAR, -1) for delta in known.values()]
    return Verdict(_all(verdicts), f"largest Δ of {len(known)}: {worst}, {points(known[worst])}")


def ahead(results: Results, ours: str, theirs: str, transform: str, task: str, metric: str, least: float) -> Verdict:
    """Whether one objective's zero-shot score is above another's by more than `least`."""
    gap = difference(*(results.scores("ZS", name, transform, task, metric) for name in (ours, theirs)))
    return Verdict(compare(gap, least, +1), points(gap)) if gap else Verdict(UNDECIDED, "no records")


def near_chance(results: Results, transform: str) -> Verdict:
    """Whether MLM's alignment is at most `CHANCE_MARGIN` above chance, one in as many as there are types."""
    found = mean(results.alignments("MLM", transform, "all"))
    if not found:
        return Verdict(UNDECIDED, "no records")
    chance = 1 / min(r.count for r in results.last(ALIGNMENT, "MLM", transform, "", "all").values())
    return Verdict(compare(found, chance + CHANCE_MARGIN, -1), f"{points(found)}; chance {100 * chance:.2g}")


def correlated(results: Results, task: str, metric: str, least: float) -> Verdict:
    """Whether rho over all cells is above `least`, by the bootstrap interval over cells."""
    cells = results.points(task, metric)
    found = spearman([cell.alignment.mean for cell in cells], [cell.delta.mean for cell in cells])
    if found is None:
        return Verdict(UNDECIDED, f"ρ is not defined over {len(cells)} cells")
    seeds = min(cell.delta.seeds for cell in cells)
    text = f"ρ = {found.rho:.3f}, p = {found.p:.2g}, {found.n} cells of {seeds} seed{'s' if seeds > 1 else ''}"
    if found.low is None or found.high is None:
        return Verdict(UNDECIDED, f"{text}: too few for an interval")
    text += f", 95 % interval [{found.low:.2f}, {found.high:.2f}]"
    return Verdict(compare(Estimate(found.rho, found.n, found.low, found.high), least, +1), text)


def points(found: Estimate) -> str:
    """A share in points, with its interval and what that covers."""
    if found.low is None or found.high is None:
        return f"{100 * found.mean:.1f} points, one seed"
    covers = f"{found.seeds} seeds" if found.over == "seeds" else "one seed: the interval covers test items only"
    return f"{100 * found.mean:.1f} points, 95 % interval [{100 * found.low:.1f}, {100 * found.high:.1f}], {covers}"


def _beats_all(values: dict[str, BySeed], objective: str, side: int) -> Verdict:
    """Holds when every paired difference is beyond 0 on that side; fails when one is beyond 0 on the other."""
    found = (
        {name: difference(values[objective], theirs) for name, theirs in values.items() if name != objective}
        if (objective in values)
        else {}
    )
    known = {name: gap for name, gap in found.items() if gap}
    if not known:
        return Verdict(UNDECIDED, "no records")
    closest = min(known, key=lambda name: side * known[name].mean)
    return Verdict(
        _all([compare(gap, 0.0, side) for gap in known.values()]),
        f"{objective} − {closest}, the closest of {len(known)}: {points(known[closest])}",
    )


def compare(found: Estimate, bound: float, side: int) -> str:
    """Whether the whole interval lies above (`side` +1) or below (-1) the bound."""
    if found.low is None or found.high is None:
        return UNDECIDED
    near, far = (found.low, found.high) if side > 0 else (found.high, found.low)
    return HOLDS if side * (near - bound) > 0 else FAILS if side * (far - bound) < 0 else UNDECIDED


def _all(verdicts: list[str]) -> str:
    return FAILS if FAILS in verdicts else UNDECIDED if UNDECIDED in verdicts else HOLDS
