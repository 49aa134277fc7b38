"""The best of several objectives, and the findings of a study of ALIGN-MLM in two sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analysis.report.table import listed, percent
from analysis.results.measured import BySeed, difference, mean
from analysis.results.results import Results
from analysis.statistics.correlation import spearman
from analysis.tasks.catalog import PRIMARY, task_title


@dataclass(frozen=True)
class Ranking:
    """The first two objectives by their means.

    `leads` says whether the first is a leader: beyond every other by the paired interval over seeds, and not equal to
    the next as printed. One seed makes no leader.
    """

    best: str
    value: float
    next: str
    next_value: float
    leads: bool


def ranked(values: Mapping[str, BySeed], side: int) -> Ranking | None:
    """Rank objectives by their numbers, the largest first (`side` +1) or the smallest (-1); None if fewer than two."""
    means = {objective: estimate.mean for objective, its in values.items() if (estimate := mean(its))}
    if len(means) < 2:
        return None
    first, second, *_ = order = sorted(means, key=lambda objective: -side * means[objective])
    beyond = all(_beyond(values[first], values[other], side) for other in order[1:])
    leads = beyond and percent(means[first]) != percent(means[second])
    return Ranking(first, means[first], second, means[second], leads)


def _beyond(ours: BySeed, theirs: BySeed, side: int) -> bool:
    gap = difference(ours, theirs)
    ends = [gap.low, gap.high] if gap and gap.seeds > 1 else [None]
    return all(end is not None and side * end > 0 for end in ends)


def noise(results: Results) -> str:
    """Why nobody leads."""
    return "one seed decides nothing" if len(results.seeds) < 2 else "within the noise between seeds"


def align_mlm_findings(results: Results) -> Iterator[str]:
    """Which objective loses least under the hardest transform and which aligns most there, as far as measured."""
    yield from transfer_finding(results)
    if transform := hardest(results):
        yield from _alignment(results, transform)


def transfer_finding(results: Results) -> Iterator[str]:
    """Which objective loses least on each task under the hardest transform, by how much, and how sure that is."""
    transform = hardest(results)
    if transform is None:
        return
    rankings: dict[str, Ranking] = {}
    for task in results.tasks:
        deltas = {o: results.deltas(o, transform, task, PRIMARY[task]) for o in results.objectives}
        if ranking := ranked(deltas, -1):
            rankings[task] = ranking
    if rankings:
        there = results.transform_title(transform)
        several = len(results.transforms) > 1
        opening = f"In the mean Δ is largest under {there}. There" if several else f"Under {there},"
        yield f"{opening} {'; '.join(_leads(results, rankings))}."


def hardest(results: Results) -> str | None:
    """The transform with the largest mean Delta over objectives and tasks; None where none was measured."""
    mean_deltas = {}
    for transform in results.transforms:
        cells = [(objective, task) for objective in results.objectives for task in results.tasks]
        deltas = [mean(results.deltas(objective, transform, task, PRIMARY[task])) for objective, task in cells]
        if means := [delta.mean for delta in deltas if delta]:
            mean_deltas[transform] = sum(means) / len(means)
    return max(mean_deltas, key=lambda transform: mean_deltas[transform], default=None)


def _leads(results: Results, rankings: dict[str, Ranking]) -> Iterator[str]:
    """Each leader with the tasks on which it loses least, and the tasks without a leader."""
    title = results.objective_title
    for best in dict.fromkeys(ranking.best for ranking in rankings.values() if ranking.leads):
        tasks = [
            f"{task_title(task)} (Δ {percent(r.value)} points; next {title(r.next)}, {percent(r.next_value)})"
            for task, r in rankings.items()
            if r.leads and r.best == best
        ]
        yield f"{title(best)} loses least on {listed(tasks)}, beyond the noise between seeds"
    tasks = [
        f"{task_title(task)} (Δ {percent(r.value)} with {title(r.best)}, {percent(r.next_value)} with {title(r.next)})"
        for task, r in rankings.items()
        if not r.leads
    ]
    if tasks:
        yield f"no objective leads on {listed(tasks)}, {noise(results)}"


def _alignment(results: Results, transform: str) -> Iterator[str]:
    for metric in ("held-out", "all"):
        if ranking := ranked({o: results.alignments(o, transform, metric) for o in results.objectives}, +1):
            break
    else:
        return
    rhos = []
    for task in results.tasks:
        points = results.points(task, PRIMARY[task])
        if rho := spearman([p.alignment.mean for p in points], [p.delta.mean for p in points]):
            rhos.append(f"{rho.rho:.2f} ({task_title(task)})".replace("-", "−"))
    over = f"; over all cells, ρ between alignment and −Δ is {listed(rhos)}" if rhos else ""
    under = f"Under {results.transform_title(transform)}"
    best, following = (results.objective_title(name) for name in (ranking.best, ranking.next))
    value, next_value = percent(ranking.value), percent(ranking.next_value)
    if ranking.leads:
        yield (
            f"{under} {best} aligns the most {metric} types: {value} % (next {following}, {next_value} %), beyond the "
            f"noise between seeds{over}."
        )
    else:
        yield (
            f"{under} no objective leads in {metric} types that are aligned ({best} {value} %, {following} "
            f"{next_value} %), {noise(results)}{over}."
        )
