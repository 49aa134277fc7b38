"""The headlines of ALIGN-MLM, tested as claims, and the findings of a study in two sentences."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from calque.analysis.papers.align_mlm.figures import compared_metrics, rho_of
from calque.analysis.papers.columns import score_title
from calque.analysis.papers.texts import claim
from calque.analysis.records.record import ALIGNMENT
from calque.analysis.report.table import listed, percent
from calque.analysis.results.measured import BySeed, difference, judge_difference, mean
from calque.analysis.results.results import Point, Results
from calque.analysis.results.retained import unless_at_floor
from calque.analysis.statistics.correlation import LEAST
from calque.analysis.statistics.intervals import CONFIDENCE
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED, Claim, Verdict, judge, points
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title
from calque.derive.transforms import REWRITES

INVERTED, SCRIPT = "trans.inv", "trans"  # the transforms of the paper's headlines
NEAR = 0.03  # delta "≈ 0": within 3 points. The paper's own largest under Trans is 2.6.
CHANCE_MARGIN = 0.01  # alignment "near chance": at most one point above it. The paper's is 0.3 points above.
PAPERS = ("nli", "ner", "pos")  # the paper's tasks; they have claims whether a study has the tasks or not


def align_mlm_claims(results: Results) -> list[Claim]:
    """The headlines of ALIGN-MLM, each with its verdict."""
    under, script, claims = results.transform_title(INVERTED), results.transform_title(SCRIPT), list[Claim]()
    for task in (task for task in PRIMARY if task in {*PAPERS, *results.tasks}):
        on = f"{task_title(task)} ({metric_title(PRIMARY[task])})"
        least, most = (extreme_delta(results, o, INVERTED, task, side) for o, side in (("ALIGN-MLM", -1), ("MLM", +1)))
        claims.append(claim("smallest-delta", least, under=under, on=on))
        if {*results.objectives} != {"ALIGN-MLM", "MLM"}:  # of two objectives it is the same claim
            claims.append(claim("largest-delta", most, under=under, on=on))
        claims.append(claim("all-near", all_near(results, SCRIPT, task), script=script, on=on, near=100 * NEAR))
        claims.append(claim("correlated", correlated(results, task, 0.7), on=on))
    ours, theirs = (results.scores("ZS", o, INVERTED, "pos", "f1_bare_tags") for o in ("ALIGN-MLM", "XLM"))
    aligned = {name: results.alignments(name, INVERTED, "held-out") for name in results.objectives}
    return [
        *claims,
        *changed_words(results),
        claim("far-above", judge_difference(ours, theirs, bound=0.3), under=under),
        claim("near-chance", near_chance(results, INVERTED), under=under, margin=100 * CHANCE_MARGIN),
        claim("most-held-out", _beats_all(aligned, "ALIGN-MLM", +1), under=under),
    ]


def changed_words(results: Results) -> Iterator[Claim]:
    """Whether an objective loses more under a transform that changes words than under the same transform without."""
    parts = {name: results.transform(name).parts for name in results.transforms}
    for changed, theirs in parts.items():
        rest = tuple(part for part in theirs if part["kind"] not in REWRITES)
        base = next((name for name, its in parts.items() if its == rest != theirs), "")
        for objective, task in product(results.objectives, results.tasks) if base else ():
            ours, before = (results.deltas(objective, each, task, PRIMARY[task]) for each in (changed, base))
            verdict = judge_difference(ours, before)
            cells = [(objective, changed), (objective, base)]
            titles = results.transform_title(changed), results.transform_title(base)
            yield claim(
                "loses-more",
                unless_at_floor(verdict, results, cells, task, PRIMARY[task]),
                objective=results.objective_title(objective),
                on=f"{task_title(task)} ({metric_title(PRIMARY[task])})",
                under=titles[0],
                script=titles[1],
            )


def extreme_delta(results: Results, objective: str, transform: str, task: str, side: int) -> Verdict:
    """Whether an objective's Delta is smaller (`side` -1) or larger (+1) than every other's."""
    metric, cells = PRIMARY[task], [(name, transform) for name in results.objectives]
    deltas = {name: results.deltas(name, transform, task, metric) for name in results.objectives}
    return unless_at_floor(_beats_all(deltas, objective, side), results, cells, task, metric)


def all_near(results: Results, transform: str, task: str) -> Verdict:
    """Whether every objective's Delta is at most `NEAR`; a negative one is better than supervision."""
    means = {name: mean(results.deltas(name, transform, task, PRIMARY[task])) for name in results.objectives}
    deltas = {name: delta for name, delta in means.items() if delta}
    worst = max(deltas, key=lambda name: deltas[name].mean, default="")
    largest = f"largest Δ of {len(deltas)}" if len(deltas) > 1 else "Δ"
    because = f"{largest}: {worst}, {points(deltas[worst])}" if deltas else ""
    verdict = judge([(delta, NEAR, -1) for delta in deltas.values()], because)
    return unless_at_floor(verdict, results, [(name, transform) for name in deltas], task, PRIMARY[task])


def near_chance(results: Results, transform: str) -> Verdict:
    """Whether MLM's alignment is at most `CHANCE_MARGIN` above chance, 1 over the number of types."""
    alignment = mean(results.alignments("MLM", transform, "all"))
    if not alignment:
        return judge([], "")
    chance = 1 / min(r.count for r in results.last(ALIGNMENT, "MLM", transform, "", "all").values())
    return judge([(alignment, chance + CHANCE_MARGIN, -1)], f"{points(alignment)}; chance {100 * chance:.2g}")


def correlated(results: Results, task: str, least: float) -> Verdict:
    """Whether rho over all cells is above `least`, by the bootstrap interval over cells."""
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


def _beats_all(values: Mapping[str, BySeed], objective: str, side: int) -> Verdict:
    """Holds if every paired difference is beyond 0 on that side; fails if one is beyond 0 on the other."""
    differences = {o: difference(values.get(objective, {}), its) for o, its in values.items() if o != objective}
    gaps = {name: gap for name, gap in differences.items() if gap}
    closest = min(gaps, key=lambda name: side * gaps[name].mean, default="")
    of = f", the closest of {len(gaps)}" if len(gaps) > 1 else ""
    because = f"{objective} − {closest}{of}: {points(gaps[closest])}" if gaps else ""
    return judge([(gap, 0.0, side) for gap in gaps.values()], because)


class Ranking(NamedTuple):
    """The best two objectives by their means. The first `leads` if it is beyond every other by the paired interval over
    seeds and differs from the next as printed; with one seed, no objective leads."""

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
    leads = percent(means[first]) != percent(means[second])
    for other in order[1:]:
        gap = difference(values[first], values[other])
        leads &= gap is not None and judge([(gap, 0.0, side)], "").verdict == HOLDS
    return Ranking(first, means[first], second, means[second], leads)


def noise(results: Results) -> str:
    """Why no objective leads."""
    return "one seed supports no conclusion" if len(results.seeds) < 2 else "within seed noise"


def align_mlm_findings(results: Results) -> Iterator[str]:
    """The objective that loses least under the hardest transform, and the one that aligns most there."""
    yield from transfer_finding(results)
    if transform := hardest(results):
        for metric in ("held-out", "all"):
            if ranking := ranked({o: results.alignments(o, transform, metric) for o in results.objectives}, +1):
                yield _alignment(results, transform, metric, ranking)
                return


def transfer_finding(results: Results) -> Iterator[str]:
    """The objective that loses least on each task under the hardest transform, by how much, and how certain that is."""
    if (transform := hardest(results)) is None:
        return
    deltas = {
        score_title(*metric): {o: results.deltas(o, transform, *metric) for o in results.objectives}
        for metric in compared_metrics(results).items()
    }
    if rankings := {task: ranking for task, its in deltas.items() if (ranking := ranked(its, -1))}:
        there = results.transform_title(transform)
        opening = f"Mean Δ is largest under {there}. There," if len(results.transforms) > 1 else f"Under {there},"
        yield f"{opening} {'; '.join(_leads(results, rankings))}."


def hardest(results: Results) -> str | None:
    """The transform with the largest mean Delta over objectives and tasks; None if none was measured."""
    mean_deltas = {}
    for transform in results.transforms:
        cells = product(results.objectives, compared_metrics(results).items())
        deltas = [mean(results.deltas(objective, transform, *metric)) for objective, metric in cells]
        if means := [delta.mean for delta in deltas if delta]:
            mean_deltas[transform] = sum(means) / len(means)
    return max(mean_deltas, key=lambda transform: mean_deltas[transform], default=None)


def _leads(results: Results, rankings: dict[str, Ranking]) -> Iterator[str]:
    """Each leader with its tasks, by their metrics, and the tasks without a leader."""
    title, leaders, others = results.objective_title, dict[str, list[str]](), list[str]()
    for task, (best, value, following, next_value, leads) in rankings.items():
        first, second = (percent(number) for number in (value, next_value))
        if leads:
            rest = f"(Δ {first} points; next {title(following)}, {second})"
            leaders.setdefault(best, []).append(f"{task} {rest}")
        else:
            others.append(f"{task} (Δ {first} with {title(best)}, {second} with {title(following)})")
    for best, tasks in leaders.items():
        yield f"{title(best)} has the smallest Δ on {listed(tasks)}, beyond seed noise"
    if others:
        yield f"no objective leads on {listed(others)}, {noise(results)}"


def _alignment(results: Results, transform: str, metric: str, ranking: Ranking) -> str:
    metrics = compared_metrics(results).items()
    found = {score_title(*metric): rho_of(results.points(*metric), within=False) for metric in metrics}
    rhos = [f"{rho.rho:.2f} ({task})".replace("-", "−") for task, rho in found.items() if rho]
    over = f"; over all cells, ρ between alignment and −Δ is {listed(rhos)}" if rhos else ""
    under = f"Under {results.transform_title(transform)}"
    best, following = (results.objective_title(name) for name in (ranking.best, ranking.next))
    value, next_value = percent(ranking.value), percent(ranking.next_value)
    if ranking.leads:
        most = f"{best} aligns the most {metric} types: {value} % (next {following}, {next_value} %)"
        return f"{under} {most}, beyond seed noise{over}."
    most = f"({best} {value} %, {following} {next_value} %)"
    return f"{under} no objective leads in {metric} types that are aligned {most}, {noise(results)}{over}."
