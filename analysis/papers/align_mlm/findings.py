"""Findings of a study of ALIGN-MLM, in two sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from analysis.papers.align_mlm.ranking import Ranking, ranked
from analysis.report.table import percent
from analysis.report.verdicts import listed
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.statistics.correlation import spearman
from analysis.tasks.catalog import PRIMARY, task_title


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
        look = partial(results.deltas, transform=transform, task=task, metric=PRIMARY[task])
        if ranking := ranked(results, look, -1):
            rankings[task] = ranking
    if rankings:
        leaders = listed([_lead(results, best, rankings) for best in dict.fromkeys(r.best for r in rankings.values())])
        noise = _noise(rankings, len(results.seeds))
        there = results.transform_title(transform)
        several = len(results.transforms) > 1
        opening = f"Most transfer is lost under {there}. There" if several else f"Under {there},"
        yield f"{opening} {leaders}; {noise}."


def hardest(results: Results) -> str | None:
    """The transform with the largest mean Delta over objectives and tasks; None where none was measured."""
    mean_deltas = {}
    for transform in results.transforms:
        deltas = [
            delta.mean
            for objective in results.objectives
            for task in results.tasks
            if (delta := mean(results.deltas(objective, transform, task, PRIMARY[task])))
        ]
        if deltas:
            mean_deltas[transform] = sum(deltas) / len(deltas)
    return max(mean_deltas, key=lambda transform: mean_deltas[transform], default=None)


def _lead(results: Results, best: str, rankings: dict[str, Ranking]) -> str:
    """An objective, and the tasks on which it loses least."""
    title = results.objective_title
    tied = any(r.value == r.next_value for r in rankings.values() if r.best == best)
    tasks = [
        f"{task_title(task)} (Δ {percent(r.value)} points; next {title(r.next)}, {percent(r.next_value)})"
        for task, r in rankings.items()
        if r.best == best
    ]
    return f"{title(best)} loses {'no more than any other' if tied else 'least'} on {listed(tasks)}"


def _noise(rankings: dict[str, Ranking], seeds: int) -> str:
    """Which leads are beyond the noise between seeds."""
    beyond = listed([task_title(task) for task, ranking in rankings.items() if ranking.decided])
    within = listed([task_title(task) for task, ranking in rankings.items() if not ranking.decided])
    if seeds < 2:
        return "one seed decides no such lead"
    sides = {"beyond": beyond, "within": within}
    said = [f"{side} the noise between seeds on {tasks}" for side, tasks in sides.items() if tasks]
    return f"the lead is {' and '.join(said)}"


def _sure(ranking: Ranking, seeds: int) -> str:
    """Whether one lead is beyond the noise between seeds."""
    if seeds < 2:
        return "which one seed does not decide"
    return f"a lead {'beyond' if ranking.decided else 'within'} the noise between seeds"


def _alignment(results: Results, transform: str) -> Iterator[str]:
    for metric in ("held-out", "all"):
        if ranking := ranked(results, partial(results.alignments, transform=transform, metric=metric), +1):
            break
    else:
        return
    rhos = []
    for task in results.tasks:
        points = results.points(task, PRIMARY[task])
        if rho := spearman([p.alignment.mean for p in points], [p.delta.mean for p in points]):
            rhos.append(f"{rho.rho:.2f} ({task_title(task)})".replace("-", "−"))
    over = f"; over all cells, ρ between alignment and −Δ is {listed(rhos)}" if rhos else ""
    title, under = results.objective_title, f"Under {results.transform_title(transform)}"
    yield (
        f"{under} {title(ranking.best)} aligns the most {metric} types: "
        f"{percent(ranking.value)} % (next {title(ranking.next)}, {percent(ranking.next_value)} %), "
        f"{_sure(ranking, len(results.seeds))}{over}."
    )
