"""Tables and claims on ALIGN-MLM (Tang et al. 2022), and a comparison of all objectives on equal terms."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from calque.analysis.measures.interventions import CONTROLS, NOTHING
from calque.analysis.papers.columns import (
    ALL_TYPES,
    HELD_OUT_TYPES,
    Column,
    column_table,
    columns_of,
    compare,
    main_metrics,
    rows_of,
    score_title,
    task_columns,
    titles,
)
from calque.analysis.papers.texts import table
from calque.analysis.records.record import (
    AER,
    AFTER,
    ALIGNMENT,
    DELTA,
    ENTRY,
    NO_ENTRY,
    RETRIEVAL,
    ROTATED,
    SHUFFLED,
)
from calque.analysis.report.table import FLOOR, MISSING, OURS, PUBLISHED, Table, cell, percent
from calque.analysis.results import (
    Point,
    Results,
    difference,
    differences,
    mean,
    mean_of_all,
    unless_at_floor,
)
from calque.analysis.statistics import CONFIDENCE, LEAST, Correlation, Estimate, points, spearman
from calque.analysis.tasks.catalogue import PRIMARY, PRINTED, metric_title, task_title
from calque.analysis.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED, Claim, Verdict, judge

ALIGNMENTS = ("all", "dictionary", "held-out")
# In some records only; those without a rotation or with self-learning are no longer measured.
VARIANTS = {
    "frequency-weighted": "frequency-weighted",
    "back": "back",
    ROTATED: "held-out, rotated",
    SHUFFLED: "held-out, shuffled pairs",
    "held-out-self-learnt": "held-out, self-learnt",
}


def align_mlm_tables(results: Results) -> dict[str, Table | None]:
    """Return the tables in the layout of the ALIGN-MLM paper, by file name."""
    layers = {layer: f"layer {layer}" if layer else "embeddings" for layer in results.layers(RETRIEVAL)}
    by_layer = [Column(head, RETRIEVAL, "cosine", facets={"layer": n}) for n, head in layers.items()]
    return {
        "table-3": scores_table(results),
        "table-8": alignment_table(results),
        "entries": _entries_table(results),
        "retrieval": column_table("derivations", results, by_layer),
        **_interventions_tables(results),
    }


def scores_table(results: Results) -> Table | None:
    """Tabulate SUP, ZS and Delta, as in Table 3, and baselines, trained like the models."""
    metrics = [(t, m) for t in results.main_tasks for m in dict.fromkeys((PRIMARY[t], PRINTED[t]))]
    columns = task_columns(["SUP", "ZS", DELTA], metrics)
    baselines = {floor.baseline: floor.title for floor in results.floors if floor.task in results.tasks}
    rows = list(_rows(results, 3, columns))
    for (name, title), transform in product(baselines.items(), results.transforms):
        learnt = {"SUP": transform, "ZS": results.source, DELTA: ""}
        tests = ((c.task, c.metric, transform, learnt[c.measure]) for c in columns)
        cells = [percent(results.baseline(name, *test)) for test in tests]
        rows.append((title, results.transform_title(transform), FLOOR, *cells))
    about: dict[str, Any] = {"floors": results.floors, "published": results.published}
    heading = "Table 3" if results.published else "Transfer"
    return table("table-3", results, columns, rows, heading=heading, **about)


def alignment_table(results: Results) -> Table | None:
    """Tabulate every variant of alignment@1, and each task's Delta, as in Table 8."""
    heads = {metric: metric for metric in ALIGNMENTS}
    heads |= {metric: title for metric, title in VARIANTS.items() if results.has(ALIGNMENT, metric)}
    columns = [Column(f"alignment@1 {head}", ALIGNMENT, metric) for metric, head in heads.items()]
    columns += task_columns([DELTA], main_metrics(results))
    about = {"rotated": ROTATED in heads, "learnt": "held-out-self-learnt" in heads}
    return table("table-8", results, columns, _rows(results, 8, columns), **about)


def _rows(results: Results, table: int, columns: Sequence[Column]) -> Iterator[tuple[str, ...]]:
    printed = [p for p in results.published if p.table == table]
    transforms = dict.fromkeys([*results.transforms, *(p.transform for p in printed)])
    objectives = dict.fromkeys([*results.objectives, *(p.objective for p in printed)])
    for model in product(objectives, transforms):
        papers = [results.printed(table, c.measure, *model, c.task, c.metric) for c in columns]
        published = [percent(number.value if number else None) for number in papers]
        ours = [column.cell(results, *model) for column in columns]
        for source, cells in ((OURS, ours), (PUBLISHED, published)):
            if {*cells} != {MISSING}:
                yield model[0], results.transform_title(model[1]), source, *cells


def _entries_table(results: Results) -> Table | None:
    """Compare ZS on words with and without a dictionary entry; MLM, which uses none, is the control."""
    rows = list[tuple[str, ...]]()
    for task, *model in product(results.main_tasks, results.objectives, results.transforms):
        groups = [results.scores("ZS", *model, task, metric) for metric in (ENTRY, NO_ENTRY)]
        if gain := differences(*groups):
            control = [results.scores("ZS", "MLM", model[1], task, metric) for metric in (ENTRY, NO_ENTRY)]
            beyond = None if model[0] == "MLM" else difference(gain, differences(*control))
            cells = map(cell, [*map(mean, (*groups, gain)), beyond])
            rows.append((task_title(task), *titles(results, *model), *cells))
    heads = ("with an entry", "without an entry", "difference", "difference − MLM’s")
    return table("entries", results, heads, rows)


def _interventions_tables(results: Results) -> dict[str, Table | None]:
    tables, heads = dict[str, Table | None](), list[str]()
    for title in map(results.objective_title, results.objectives):
        heads += [title, f"{title}, change", f"{title}, beyond control"]
    last = {"layer": max(results.layers(RETRIEVAL), default=None)}
    columns = [replace(c, head=score_title(c.task, separator=", ")) for c in zero_shot_columns(results)]
    states = any(f"{AFTER}states" in record.metric for record in results.records)
    for column in (*columns, Column("retrieval", RETRIEVAL, "cosine", facets=last)):
        rows, about = _intervened(results, column), {"states": states, "number": column.head}
        tables[f"interventions-{column.task or column}"] = table(
            "interventions", results, heads, rows, **about
        )
    return tables


def _intervened(results: Results, column: Column) -> Iterator[tuple[str, ...]]:
    """Yield each intervention's scores by transform, and differences from no intervention and the control."""
    start = column.metric + AFTER
    metrics = dict.fromkeys(key.metric for key in results.keys(measure=column.measure, task=column.task))
    names = [metric.removeprefix(start) for metric in metrics if metric.startswith(start)]
    for transform, name in product(results.transforms, names):
        control, numbers = CONTROLS.get(name, ""), list[Estimate | None]()
        for objective in results.objectives:
            score, unchanged, controlled = (
                replace(column, metric=start + change).values(results, objective, transform)
                for change in (name, NOTHING, control)
            )
            change = difference(score, unchanged) if name != NOTHING else None
            numbers += mean(score), change, difference(score, controlled)
        if any(numbers):
            yield results.transform_title(transform), name, control or MISSING, *map(cell, numbers)


INVERTED, SCRIPT = "trans.inv", "trans"  # the transforms in the paper's headline claims
NEAR = 0.03  # "≈ 0" means a Delta of at most 3 points; the paper's largest under Trans is 2.6
CHANCE_MARGIN = 0.01  # "near chance" means at most one point above chance (in the paper, 0.3 points)
PAPERS = ("nli", "ner", "pos")  # the paper's tasks; claims cover them even if a study lacks them


def align_mlm_claims(results: Results) -> Iterator[Claim]:
    """Yield ALIGN-MLM's headline claims with their verdicts."""
    under, script = map(results.transform_title, (INVERTED, SCRIPT))
    for task in (task for task in PRIMARY if task in {*PAPERS, *results.tasks}):
        on, figure_2 = _on(task), "Figure 2, Table 3"
        smallest = extreme_delta(results, "ALIGN-MLM", INVERTED, task, -1)
        text = f"ALIGN-MLM’s Δ is the smallest under {under} on {on}"
        yield Claim(text, f"section 5, {figure_2}", "transfer", smallest)
        # With only these two objectives, the next claim would repeat the previous one.
        if {*results.objectives} != {"ALIGN-MLM", "MLM"}:
            largest = extreme_delta(results, "MLM", INVERTED, task, +1)
            yield Claim(f"MLM’s Δ is the largest under {under} on {on}", figure_2, "transfer", largest)
        text = f"All objectives transfer well under {script} on {on}: Δ ≤ {100 * NEAR:.0f} points"
        yield Claim(text, "section 5, Figure 2", "transfer", all_near(results, SCRIPT, task))
        text, where = f"ρ > 0.7 between alignment and −Δ on {on}", "section 5, Figure 3, appendix E"
        yield Claim(text, where, "correlation", correlated(results, task, 0.7))
    column = Column("ZS", "ZS", "f1_bare_tags", "pos")
    far = compare(results, column, ("ALIGN-MLM", INVERTED), ("XLM", INVERTED), bound=0.3)
    text = f"ALIGN-MLM’s ZS is over 30 points above XLM’s under {under} on POS (F1 on bare tags)"
    yield Claim(text, "abstract, section 5", "transfer", far)
    near = f"near chance (at most {100 * CHANCE_MARGIN:.0f} point above it)"
    chance = _near_chance(results, INVERTED)
    yield Claim(f"MLM’s alignment@1 under {under} is {near}", "Table 8", "alignment", chance)
    text = f"ALIGN-MLM aligns more of the held-out types under {under} than any other objective"
    most = _beats_all(results, HELD_OUT_TYPES, INVERTED, "ALIGN-MLM", +1)
    where = "ours: the paper does not separate held-out from dictionary types"
    yield Claim(text, where, "alignment", most)


def _on(task: str) -> str:
    return f"{task_title(task)} ({metric_title(PRIMARY[task])})"


def _delta(task: str) -> Column:
    return Column("Δ", DELTA, PRIMARY[task], task)


def extreme_delta(results: Results, objective: str, transform: str, task: str, side: int) -> Verdict:
    """Judge whether an objective's Delta is the smallest (`side` -1) or largest (+1)."""
    cells = [(name, transform) for name in results.objectives]
    verdict = _beats_all(results, _delta(task), transform, objective, side)
    return unless_at_floor(verdict, results, cells, task, PRIMARY[task])


def all_near(results: Results, transform: str, task: str) -> Verdict:
    """Judge whether every objective's Delta is at most `NEAR`."""
    means = {name: _delta(task).mean(results, name, transform) for name in results.objectives}
    deltas = {name: delta for name, delta in means.items() if delta}
    worst = max(deltas, key=lambda name: deltas[name].mean, default="")
    largest = f"largest Δ of {len(deltas)}" if len(deltas) > 1 else "Δ"
    because = f"{largest}: {worst}, {points(deltas[worst])}" if deltas else ""
    verdict = judge([(delta, NEAR, -1) for delta in deltas.values()], because)
    return unless_at_floor(verdict, results, [(name, transform) for name in deltas], task, PRIMARY[task])


def _near_chance(results: Results, transform: str) -> Verdict:
    key = (ALIGNMENT, "MLM", transform, "", "all")
    if not (alignment := mean(results.scores(*key))):
        return judge([], "")
    chance = 1 / min(record.count for record in results.last(*key).values())
    return judge([(alignment, chance + CHANCE_MARGIN, -1)], f"{points(alignment)}; chance {100 * chance:.2g}")


def _beats_all(results: Results, column: Column, transform: str, objective: str, side: int) -> Verdict:
    """Judge whether an objective's number is the highest (`side` +1) or lowest (-1)."""
    ours, gaps = column.values(results, objective, transform), dict[str, Estimate]()
    for name in results.objectives:
        if name != objective and (gap := difference(ours, column.values(results, name, transform))):
            gaps[name] = gap
    closest = min(gaps, key=lambda name: side * gaps[name].mean, default="")
    rank = f", the closest of {len(gaps)}" if len(gaps) > 1 else ""
    because = f"{objective} − {closest}{rank}: {points(gaps[closest])}" if gaps else ""
    return judge([(gap, 0.0, side) for gap in gaps.values()], because)


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


def rho_of(points: list[Point]) -> Correlation | None:
    """Compute rho over a task's points, if it is defined, with a p-value by permutation within transforms."""
    if len({point.objective for point in points}) < 2:
        return None
    alignments, deltas = [point.alignment.mean for point in points], [point.delta.mean for point in points]
    return spearman(alignments, deltas, groups=[point.transform for point in points])


def rho_cell(rho: Correlation) -> str:
    """Format a correlation with its interval, if it has one."""
    ends = "" if rho.low is None or rho.high is None else f" [{rho.low:.2f}, {rho.high:.2f}]"
    return f"{rho.rho:.2f}{ends}".replace("-", "−")


def compared_metrics(results: Results) -> dict[str, str]:
    """Choose each task's metric: the paper's if its numbers are available, otherwise the primary one."""
    printed = {(p.task, p.metric) for p in results.published if (p.table, p.measure) == (3, DELTA)}
    return {t: PRINTED[t] if (t, PRINTED[t]) in printed else PRIMARY[t] for t in results.main_tasks}


def xlm_align_tables(results: Results) -> dict[str, Table | None]:
    """Return the tables of a study on XLM-Align (Chi et al. 2021), by file name."""
    columns = columns_of("starts")
    for joint, layer in product((False, True), results.layers(AER)):
        head = f"AER layer {layer}{', joint' if joint else ''}"
        columns.append(Column(head, AER, "aer", facets={"layer": layer, "joint": joint}))
    columns += task_columns([DELTA], main_metrics(results))
    rows = rows_of(results, columns, results.models)
    return {"starts": table("starts", results, columns, rows), "scores": scores_table(results)}


# A comparison, found in no paper, of objectives on the same languages and tasks with the same budget

STRONGEST = "strongest word baseline"


def zero_shot_columns(results: Results) -> list[Column]:
    """Return one column per task, with the zero-shot score in its main metric."""
    return [Column(score_title(task), "ZS", metric, task) for task, metric in main_metrics(results)]


def mean_of_tasks(results: Results, measure: str = "ZS") -> Column:
    """Return a column with the mean, across tasks, of the scores in their main metrics."""
    return Column(f"{measure}, mean of tasks", parts=task_columns([measure], main_metrics(results)))


def equal_terms_tables(results: Results) -> dict[str, Table | None]:
    """Return the table of objectives, and tables from the ALIGN-MLM report, by file name."""
    tasks, rows = zero_shot_columns(results), list[tuple[str, ...]]()
    columns = [*tasks, mean_of_tasks(results), mean_of_tasks(results, "SUP"), HELD_OUT_TYPES, ALL_TYPES]
    for transform in results.transforms:
        for objective in results.objectives:
            cells = [column.cell(results, objective, transform) for column in columns]
            rows.append((*titles(results, objective, transform), OURS, *cells))
        floors = [column.floor(results, transform) for column in tasks]
        if any(floors):
            values = [floor.value if floor else None for floor in floors]
            shares = map(percent, [*values, mean_of_all(values)])
            rows.append((STRONGEST, results.transform_title(transform), FLOOR, *shares, *[MISSING] * 3))
    return {
        "objectives": table("objectives", results, columns, rows),
        "scores": scores_table(results),
        "alignment": alignment_table(results),
    }


def equal_terms_claims(results: Results) -> Iterator[Claim]:
    """Claim that each objective beats MLM (of several, the first), and that alignment goes with transfer."""
    kinds = {name: [part["kind"] for part in results.objectives[name].parts] for name in results.objectives}
    plain, tasks = next((name for name in kinds if kinds[name] == ["MLM"]), ""), len(results.main_tasks)
    for transform in results.transforms if plain else ():
        under, ours = f"under {results.transform_title(transform)}", "ours: no paper compares them all"
        for name in (name for name in kinds if name != plain):
            better, worse = map(results.objective_title, (name, plain))
            texts = {
                "transfer": f"{better} transfers better than {worse} {under}: ZS, mean of {tasks} tasks",
                "alignment": f"{better} aligns more of the held-out types than {worse} {under}",
            }
            columns = mean_of_tasks(results), HELD_OUT_TYPES
            for (family, text), column in zip(texts.items(), columns, strict=True):
                verdict = compare(results, column, (name, transform), (plain, transform))
                yield Claim(text, ours, family, verdict)
    for task in results.main_tasks:
        about = "ρ > 0 between alignment and −Δ"
        text = f"More aligned types go with less loss on {task_title(task)}: {about}"
        verdict = correlated(results, task, 0.0)
        yield Claim(text, "after ALIGN-MLM, section 5", "correlation", verdict)
