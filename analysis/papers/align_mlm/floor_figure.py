"""Supervised and zero-shot scores above the floors that baselines without a model set."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.papers.align_mlm.wording import SUP, ZS
from analysis.papers.looks import distinct, looks
from analysis.records.floor import Floor
from analysis.report.plot import Plot
from analysis.report.spread import spread
from analysis.report.style import FULL, INK, MOST, SOFT, Fill, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

WIDTH = 0.84
"""Of a group's width, that its scores take."""
SCORES: tuple[tuple[str, Fill], ...] = (("SUP", "none"), ("ZS", "full"))
"""The measures that are shown, and how their markers are filled."""
SAME, LINE = 1.0, 0.065
"""Points between lines of one name that have one label, and the part of a panel's height that a label takes."""
FAINT = "#6a6a6a"
"""Of labels of lines that stand behind: dark enough to be read."""


def floor_figure(results: Results, scale: str) -> Plot | None:
    """A panel a task, a group a transform: every objective's SUP and ZS, and a line for each baseline.

    None without floors, or with more transforms or objectives than a figure can tell apart.
    """
    tasks = [task for task in PRIMARY if task in results.tasks and results.floors.baselines([task])]
    transforms = results.transforms
    if not tasks or len(transforms) > MOST or not distinct(results):
        return None
    with styled(FULL, 1.7 + 2.4 * len(tasks), f"Scores above what needs no model\n{scale}") as figure:
        axes = figure.subplots(len(tasks), 1, squeeze=False)[:, 0]
        for panel, task in zip(axes, tasks, strict=True):
            for group, transform in enumerate(transforms):
                _scores(panel, results, group, transform, task)
                _lines(panel, results, group, transform, task)
            panel.set_ylim(-3, 103)
            panel.set_xlim(-0.5, len(transforms) - 0.5)
            _labels(panel, results, transforms[-1], task)
            panel.set_xticks(range(len(transforms)), [results.transform_title(name) for name in transforms])
            panel.set_ylabel(f"{task_title(task)} {metric_title(PRIMARY[task])}, %")
            panel.grid(visible=False, axis="x")
        handles = [key(results.objective_title(name), *look[:2]) for name, look in looks(results).items()]
        handles += [
            key("ZS", INK, "o"),
            key("SUP", INK, "o", "none"),
            key("baseline learnt in the source", INK, "", line="-"),
            key("baseline learnt in the derived language", SOFT, "", line="--"),
        ]
        legend(figure, handles, 3)
        caption = (
            f"{SUP} {ZS} Lines are baselines without a model, tested on the same examples. Those learnt in the source "
            "alone know of a derived language only words that it shares, and how texts overlap: ZS that is not above "
            "them says nothing of transfer. SUP that is not above those learnt in the language says little of what a "
            "model learnt. "
        ) + (
            "Bars are 95 % intervals over seeds."
            if len(results.seeds) > 1
            else "Bars are 95 % intervals over the test items of one seed, which say nothing of other seeds."
        )
        shown = {(task, PRIMARY[task]) for task in tasks}
        records = [r for r in results.records if r.measure in ("SUP", "ZS") and (r.task, r.metric) in shown]
        floors = [floor for floor in results.floors.all if (floor.task, floor.metric) in shown]
        title = "Scores above their floors"
        return Plot(figure, "figure-floors", title, caption, records, floors=floors)


def _scores(panel: Axes, results: Results, group: int, transform: str, task: str) -> None:
    """A marker for each objective's SUP and ZS, one above the other, with their intervals."""
    n = len(results.objectives)
    for place, (objective, (colour, marker, _)) in enumerate(looks(results).items()):
        x = group + (place - (n - 1) / 2) * WIDTH / n
        size = 9 if marker == "*" else 6  # a small open star looks like a full one
        for measure, fill in SCORES:
            if score := mean(results.scores(measure, objective, transform, task, PRIMARY[task])):
                y = 100 * score.mean
                panel.plot([x], [y], marker, color=colour, fillstyle=fill, markersize=size, zorder=3)
                draw_intervals(panel, [x], ends([score]), colour)


def _lines(panel: Axes, results: Results, group: int, transform: str, task: str) -> None:
    ends = [group - WIDTH / 2 - 0.04, group + WIDTH / 2 + 0.04]
    for floor in _learnt(results, transform, task, transform):
        panel.plot(ends, [100 * floor.value] * 2, "--", color=SOFT, linewidth=1, zorder=1)
    for floor in _learnt(results, transform, task, results.source):
        panel.plot(ends, [100 * floor.value] * 2, "-", color=INK, linewidth=0.9, zorder=1)


def _labels(panel: Axes, results: Results, transform: str, task: str) -> None:
    """Names of the lines right of the last group: higher lines have higher names, and no two names meet."""
    lines: list[tuple[float, str, str]] = []
    for learnt, colour in ((results.source, INK), (transform, FAINT)):
        for floor in _learnt(results, transform, task, learnt):
            value = 100 * floor.value
            if not any(title == floor.title and abs(height - value) < SAME for height, title, _ in lines):
                lines.append((value, floor.title, colour))
    low, high = panel.get_ylim()
    heights = [(value - low) / (high - low) for value, _, _ in lines]
    for (_, title, colour), height, place in zip(lines, heights, spread(heights, LINE), strict=True):
        panel.annotate(
            title,
            (1, height),
            xytext=(1.03, place),
            xycoords="axes fraction",
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
            color=colour,
            fontsize=8,
            va="center",
        )


def _learnt(results: Results, transform: str, task: str, learnt: str) -> list[Floor]:
    return list(results.floors.of(task, PRIMARY[task], transform, learnt).values())
