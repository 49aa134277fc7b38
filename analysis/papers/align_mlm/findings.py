"""Findings of a study of ALIGN-MLM, in two sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from analysis.papers.align_mlm.ranking import Ranking, noise, ranked
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
        there = results.transform_title(transform)
        several = len(results.transforms) > 1
        opening = f"In the mean Δ is largest under {there}. There" if several else f"Under {there},"
        yield f"{opening} {'; '.join(_leads(results, rankings))}."


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
    value, following = percent(ranking.value), percent(ranking.next_value)
    if ranking.leads:
        yield (
            f"{under} {title(ranking.best)} aligns the most {metric} types: {value} % (next {title(ranking.next)}, "
            f"{following} %), beyond the noise between seeds{over}."
        )
    else:
        yield (
            f"{under} no objective leads in {metric} types that are aligned ({title(ranking.best)} {value} %, "
            f"{title(ranking.next)} {following} %), {noise(results)}{over}."
        )
