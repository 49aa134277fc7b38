"""Figures of a study of XLM-Align: its labels over the steps, AER by layer (Figure 2), and Tables 3 to 7 as gains.

Each is None where records cannot fill it, or with more objectives or transforms than a figure can tell apart.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.markers import CARETLEFTBASE, CARETRIGHTBASE
from matplotlib.ticker import MaxNLocator

from analysis.papers.looks import Look, family, keys, look, looks
from analysis.papers.texts import heading, plot
from analysis.papers.xlm_align.ablations import (
    DEFAULT,
    TABLES,
    TASKS,
    published_in,
    records_of,
    settings,
    usual_start,
    variant,
)
from analysis.records.record import AER, LABELS
from analysis.report.drawing import (
    DIFFERENCE,
    FULL,
    INK,
    MOST,
    Dash,
    Fill,
    Point,
    draw_intervals,
    ends,
    fills,
    grid,
    key,
    legend,
    steps_axis,
    styled,
)
from analysis.report.plot import Plot
from analysis.results.measured import BySeed, difference, means
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

KINDS = {"precision": "label precision", "share": "words with a label"}
MARKERS = 8  # on a line, about, so that they do not hide it
ABREAST = 4  # panels in a row
BESIDE = 0.06  # of a layer's width, between the intervals of two lines
WAYS: dict[bool, tuple[str, Dash]] = {
    False: ("each sentence encoded alone", "-"),
    True: ("both sentences in one row", "--"),
}
"""How sentences are encoded, by whether they are joint."""
ARROWS = (CARETLEFTBASE, CARETRIGHTBASE)  # markers where an interval goes on beyond the axis
BELOW = 0.24  # of a row's height, from our number to the paper's
ROOM, STEP = 2, 5  # the axis reaches so many times as far as the farthest number, rounded up to a multiple of points


def label_figure(results: Results, scale: str) -> Plot | None:
    """Precision of the labels beside the share of words that have one, over the steps, a row for each transform."""
    cells = [(o, t) for o in results.objectives for t in results.transforms]
    labels = {(*cell, kind): results.growth(*cell, kind, LABELS) for cell in cells for kind in KINDS}
    labelled = [cell for cell in cells if labels[(*cell, "precision")]]
    rows = [t for t in results.transforms if any(t == transform for _, transform in labelled)]
    labelling, look = list(dict.fromkeys(objective for objective, _ in labelled)), looks(results)
    if not rows or not look or len(rows) > MOST:
        return None
    with styled(FULL, 1.7 + 2.2 * len(rows), heading("figure-labels", scale)) as figure:
        axes = figure.subplots(len(rows), len(KINDS), sharex=True, sharey=True, squeeze=False)
        for row, transform in zip(axes, rows, strict=True):
            for panel, (kind, title) in zip(row, KINDS.items(), strict=True):
                for objective in labelling:
                    _label_lines(panel, labels[objective, transform, kind], look[objective])
                panel.set_title(f"{results.transform_title(transform)}, {title}")
            row[0].set_ylabel("share, %")
            row[0].set_ylim(0, 103)
        steps_axis(axes[0, 0])
        for panel in axes[-1]:
            panel.set_xlabel("step, the steps of the start included")
        legend(figure, keys(results, look, labelling, line=None), 2)
    records = [r for r in results.records if r.measure == LABELS and r.metric in KINDS]
    return plot("figure-labels", figure, results, records)


def _label_lines(panel: Axes, values: dict[int, BySeed], look: Look) -> None:
    """Each seed as a thin line and their mean as a thick one, in percent."""
    colour, marker, dash = look
    steps, seeds = list(values), sorted({seed for scores in values.values() for seed in scores})
    for seed in seeds if len(seeds) > 1 else ():
        line = {step: scores[seed].value for step, scores in values.items() if seed in scores}
        panel.plot(list(line), [100 * value for value in line.values()], dash, color=colour, linewidth=0.8, alpha=0.5)
    means = [100 * sum(measured.value for measured in scores.values()) / len(scores) for scores in values.values()]
    panel.plot(steps, means, dash, color=colour, marker=marker, markersize=6, markevery=1 + len(steps) // MARKERS)


def contextual_figure(results: Results, scale: str) -> Plot | None:
    """AER by layer, a panel for each objective, a line for each transform and way to encode."""
    layers, look = results.layers(AER), looks(results)
    cells = [(o, t) for o in results.objectives for t in results.transforms if _errors(results, o, t, layers)]
    objectives = list(dict.fromkeys(objective for objective, _ in cells))
    transforms = [name for name in results.transforms if any(name == t for _, t in cells)]
    if len(layers) < 2 or not objectives or not look or len(results.transforms) > MOST:
        return None
    fill, columns = fills(results.transforms), min(ABREAST, len(objectives))
    lines = [(transform, joint) for transform in transforms for joint in WAYS]
    height = 1.8 + 2.1 * -(-len(objectives) // columns)
    with styled(FULL, height, heading("figure-layers", scale)) as figure:
        axes = grid(figure, len(objectives), columns, sharex=True, sharey=True)
        for panel, objective in zip(axes.flat, objectives, strict=False):
            for place, (transform, joint) in enumerate(lines):
                shift = BESIDE * (place - (len(lines) - 1) / 2)
                rates = _errors(results, objective, transform, layers, joint)
                points = [(layer + shift, estimate) for layer, estimate in rates]
                _layer_line(panel, points, look[objective], fill[transform], WAYS[joint][1])
            panel.set_title(textwrap.fill(results.objective_title(objective), 20), fontsize=9.5)
            panel.set_xticks(layers)
            panel.tick_params(labelbottom=True)
            panel.set_ylim(-3, 103)
        for panel in axes.flat[len(objectives) - columns : len(objectives)]:
            panel.set_xlabel("layer")
        for panel in axes[:, 0]:
            panel.set_ylabel("AER, %")
        handles = [key(results.transform_title(name), INK, "o", fill[name]) for name in transforms]
        handles += [key(title, INK, "", line=dash) for title, dash in WAYS.values()]
        legend(figure, handles, 2, handlelength=3)
    records = [r for r in results.records if r.measure == AER]
    return plot("figure-layers", figure, results, records)


def _errors(
    results: Results, objective: str, transform: str, layers: Sequence[int], joint: bool = False
) -> list[Point]:
    """The mean over seeds at each layer that was measured."""
    return means((n, results.scores(AER, objective, transform, "", "aer", layer=n, joint=joint)) for n in layers)


def _layer_line(panel: Axes, rates: list[Point], look: Look, fill: Fill, dash: Dash) -> None:
    """Means over seeds in percent, and their intervals."""
    layers, values = [layer for layer, _ in rates], [100 * one.mean for _, one in rates]
    style: dict[str, Any] = {"fillstyle": "full" if fill == "none" else fill, "markerfacecoloralt": "#ffffff"}
    style |= {"markerfacecolor": "#ffffff" if fill == "none" else look.colour, "linewidth": 1.2}
    panel.plot(layers, values, dash, color=look.colour, marker=look.marker, markersize=6, **style)
    if any(one.seeds > 1 for _, one in rates):
        draw_intervals(panel, layers, ends([one for _, one in rates]), look.colour)


def ablation_figure(results: Results, scale: str) -> Plot | None:
    """What each setting gains over XLM-Align as it is, a panel for each task, all of one scale.

    None without a setting to compare.
    """
    every = settings(results)
    rows = list(dict.fromkeys((s.name, s.objective, s.transform) for s in every if s.name != DEFAULT))
    default = variant(results, usual_start(results))
    tasks = [task for task in TASKS if task in results.tasks]
    if not rows or not tasks or default is None:
        return None
    several = len(results.transforms) > 1
    labels = [f"{name}{f' ({results.transform_title(transform)})' * several}" for name, _, transform in rows]
    gains = {
        (y, task): difference(*(results.scores("ZS", o, transform, task, PRIMARY[task]) for o in (objective, default)))
        for y, (_, objective, transform) in enumerate(rows)
        for task in tasks
    }
    published = [p for table in TABLES for p in published_in(results, table)]
    start = {p.task: p.value for p in published if p.table == 3 and p.setting == DEFAULT}
    # The published difference to the default; POS's is of F1 on bare tags.
    printed = {(p.setting, p.task): p.value - start[p.task] for p in published if p.task in start}
    theirs = [printed[name, task] for name, _, _ in rows for task in tasks if (name, task) in printed]
    farthest = max((100 * abs(gain) for gain in [*(g.mean for g in gains.values() if g), *theirs]), default=0.0)
    reach = max(STEP, STEP * -(-ROOM * farthest // STEP))
    with styled(FULL, 2.1 + 0.36 * len(labels), heading("figure-ablations", scale)) as figure:
        axes = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
        for panel, task in zip(axes, tasks, strict=True):
            for y, (name, objective, _) in enumerate(rows):
                if gain := gains[y, task]:
                    _gain(panel, gain, y, reach, look(results.objective(objective), results.start(objective)))
                if (name, task) in printed:
                    x = 100 * printed[name, task]
                    panel.plot(x, y + BELOW, "D", color=INK, markerfacecolor="#ffffff", markersize=5)
            panel.axvline(0, color=INK, linewidth=0.8)
            panel.set_title(f"{task_title(task)}\n{metric_title(PRIMARY[task])}")
            panel.set_xlim(-reach, reach)
            panel.set_xlabel("ZS gained, points")
            panel.xaxis.set_major_locator(MaxNLocator(4, prune="both"))  # so that two panels' numbers do not meet
        axes[0].set_yticks(range(len(labels)), labels)
        axes[0].set_ylim(len(labels) - 0.5, -0.5)
        families = dict.fromkeys(family(results.objective(objective)) for _, objective, _ in rows)
        handles = [key(f"ours, {one.plain.title}", one.look.colour, "", line="-") for one in families if one]
        handles.append(key("published, at the paper’s scale", INK, "D", "none"))
        legend(figure, handles, 3)
    records = records_of(results, every, ("ZS",))
    return plot("figure-ablations", figure, results, records, [p for p in published if p.task in tasks])


def _gain(panel: Axes, gain: Estimate, y: float, reach: float, mark: Look) -> None:
    """Our number and its interval, with an arrow where that is longer than the axis."""
    (both,) = ends([gain], DIFFERENCE)
    panel.plot(100 * gain.mean, y, mark.marker, color=mark.colour, markersize=6)
    draw_intervals(panel, [y], [both], mark.colour, across=True)
    for end, marker in zip(both or (), ARROWS, strict=False):
        if abs(end) > reach:
            edge = reach if end > 0 else -reach
            panel.plot(edge, y, linestyle="", marker=marker, color=mark.colour, markersize=6, clip_on=False)
