"""Tables 3 to 7 of XLM-Align as differences: the gain of each setting over the default."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.markers import CARETLEFTBASE, CARETRIGHTBASE
from matplotlib.ticker import MaxNLocator

from analysis.papers.looks import Look, family, look
from analysis.papers.xlm_align.ablations import DEFAULT, TABLES, TASKS, published_in, records_of, settings
from analysis.papers.xlm_align.variants import usual_start, variant
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, key, legend, styled
from analysis.report.whiskers import DIFFERENCE, draw_intervals, ends
from analysis.results.measured import difference
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

ARROWS = (CARETLEFTBASE, CARETRIGHTBASE)
"""Markers where an interval goes on beyond the axis."""
BELOW = 0.24
"""Of a row's height, from our number to the paper's."""
ROOM, STEP = 2, 5
"""The axis reaches so many times as far as the farthest number, rounded up to a multiple of points."""


def ablation_figure(results: Results, scale: str) -> Plot | None:
    """What each setting gains over XLM-Align as it is, a panel for each task, all of one scale.

    None without a setting to compare.
    """
    shown_settings = settings(results)
    compared = list(dict.fromkeys((s.name, s.objective, s.transform) for s in shown_settings if s.name != DEFAULT))
    default = variant(results, usual_start(results))
    tasks = [task for task in TASKS if task in results.tasks]
    if not compared or not tasks or default is None:
        return None
    several = len(results.transforms) > 1
    labels = [f"{name}{f' ({results.transform_title(transform)})' * several}" for name, _, transform in compared]
    gains = {
        (y, task): difference(*(results.scores("ZS", o, transform, task, PRIMARY[task]) for o in (objective, default)))
        for y, (_, objective, transform) in enumerate(compared)
        for task in tasks
    }
    printed = _printed_gains(results)
    shown = [printed[name, task] for name, _, _ in compared for task in tasks if (name, task) in printed]
    reach = _reach([gain.mean for gain in gains.values() if gain] + shown)
    with styled(FULL, 2.1 + 0.36 * len(labels), f"XLM-Align’s parts and values\n{scale}") as figure:
        axes = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
        for panel, task in zip(axes, tasks, strict=True):
            for y, (name, objective, _) in enumerate(compared):
                if gain := gains[y, task]:
                    _ours(panel, gain, y, reach, look(results.objective(objective), results.start(objective)))
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
        families = dict.fromkeys(family(results.objective(objective)) for _, objective, _ in compared)
        handles = [key(f"ours, {one.plain.title}", one.look.colour, "", line="-") for one in families if one]
        handles.append(key("published, at the paper’s scale", INK, "D", "none"))
        legend(figure, handles, 3)
        over = "over seeds" if len(results.seeds) > 1 else "over the test items of one seed"
        caption = (
            "Each row changes one thing about XLM-Align; to the left of the line it is worse than XLM-Align as it is. "
            f"Lines are 95 % intervals {over} of the difference; an arrow says that one goes on beyond the axis. White "
            "markers are the paper’s own numbers, at a far larger scale and on real languages; its POS is F1 on bare "
            "tags."
        )
        published = [p for table in TABLES for p in published_in(results, table) if p.task in tasks]
        records = [r for r in records_of(results, shown_settings) if r.measure == "ZS"]
        title = "Tables 3 to 7 of XLM-Align as differences"
        return Plot(figure, "figure-ablations", title, caption, records, published)


def _reach(shares: list[float]) -> float:
    """Where the axis ends, in points: as far as the farthest number and some room, whatever intervals do."""
    farthest = max((100 * abs(difference) for difference in shares), default=0.0)
    return max(STEP, STEP * -(-ROOM * farthest // STEP))


def _ours(panel: Axes, gain: Estimate, y: float, reach: float, mark: Look) -> None:
    """Our number and its interval, with an arrow where that is longer than the axis."""
    (both,) = ends([gain], DIFFERENCE)
    panel.plot(100 * gain.mean, y, mark.marker, color=mark.colour, markersize=6)
    draw_intervals(panel, [y], [both], mark.colour, across=True)
    for end, marker in zip(both or (), ARROWS, strict=False):
        if abs(end) > reach:
            edge = reach if end > 0 else -reach
            panel.plot(edge, y, linestyle="", marker=marker, color=mark.colour, markersize=6, clip_on=False)


def _printed_gains(results: Results) -> dict[tuple[str, str], float]:
    """The published difference to the default, by setting and task; POS's is of F1 on bare tags."""
    default = {p.task: p.value for p in published_in(results, 3) if p.setting == DEFAULT}
    return {
        (p.setting, p.task): p.value - default[p.task]
        for table in TABLES
        for p in published_in(results, table)
        if p.task in default
    }
