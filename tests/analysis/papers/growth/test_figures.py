"""Bands that overlap with nothing, labels that do not meet, and figures of all records."""

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.path import Path as PlotPath

from calque.analysis.papers.growth import figures as growth
from calque.analysis.papers.growth.curves import QUANTITIES, growth_findings
from calque.analysis.papers.growth.figures import (
    NULL,
    ROOM,
    aligned_figure,
    clear_stretches,
    onset_figure,
    predicted_figure,
)
from calque.analysis.papers.texts import terms
from calque.analysis.records.record import Null
from calque.analysis.report.drawing import spread
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from tests.analysis.drawn import coordinates, panels
from tests.analysis.papers.growth.grown import ORDER, STEPS, grown

ENDS = st.tuples(st.integers(0, 20), st.integers(0, 5), st.integers(0, 5))
LINES = st.lists(st.lists(ENDS, min_size=5, max_size=5), min_size=1, max_size=4)


@given(LINES)
def test_no_two_bands_meet_and_none_meets_a_line(drawn: list[list[tuple[int, int, int]]]) -> None:
    lines = {
        str(n): {step: Estimate(m, 3, m - below, m + above) for step, (m, below, above) in enumerate(line)}
        for n, line in enumerate(drawn)
    }
    stretches = clear_stretches(lines)
    for (a, first), (b, second) in combinations(lines.items(), 2):
        for band, line, other in ((a, first, second), (b, second, first)):
            for stretch in stretches[band]:
                for left, right in pairwise(stretch):
                    for part in (0.0, 0.3, 0.7, 1.0):
                        low, high = (_between(line, end, left, right, part) for end in ("low", "high"))
                        least, most = (_between(other, end, left, right, part) for end in ("low", "high"))
                        assert high < least or low > most


def _between(line: dict[int, Estimate], end: str, left: int, right: int, part: float) -> float:
    return float(getattr(line[left], end) * (1 - part) + getattr(line[right], end) * part)


def test_a_line_alone_has_its_whole_band_and_one_without_interval_none() -> None:
    known, unknown = Estimate(1, 3, 0, 2), Estimate(9, 1)
    assert clear_stretches({"a": {0: known, 1: known, 2: known}}) == {"a": [[0, 1, 2]]}
    assert clear_stretches({"a": {0: unknown, 1: unknown}}) == {"a": []}


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.01, 0.3))
def test_labels_keep_their_order_and_their_distance(values: list[float], gap: float) -> None:
    moved = spread(values, gap)
    order = sorted(range(len(values)), key=lambda i: values[i])
    assert all(moved[b] - moved[a] >= gap - 1e-9 for a, b in pairwise(order))
    if all(values[b] - values[a] >= gap for a, b in pairwise(order)):
        assert moved == pytest.approx(values)


def test_figures_show_every_quantity_and_its_records(tmp_path: Path) -> None:
    results = grown()
    figures = [figure for draw in (onset_figure, predicted_figure, aligned_figure) if (figure := draw(results, "tiny"))]
    assert [figure.name for figure in figures] == ["figure-onset", "figure-predicted", "figure-aligned"]
    assert sum(len(figure.records) for figure in figures[1:]) == len(figures[0].records) == 2 * 2 * 3 * 7 * 7
    for quantity in QUANTITIES:
        assert any(quantity.text in figure.caption for figure in figures)
    for figure in figures:
        assert figure.save(tmp_path).png.stat().st_size > 10_000
    panels = figures[1].figure.axes
    assert len(panels) == 6
    assert [text.get_text() for text in panels[1].texts] == ["MLM", "ALIGN-MLM"]


def test_onsets_stand_in_the_rows_of_objectives_and_reach_over_their_seeds() -> None:
    """The second objective's rows are shaded; what never leaves is hollow, at the end of the axis."""
    plot = onset_figure(grown(later={("gradients", 1): 3}), "tiny")
    drawn = panels(plot)
    assert list(drawn) == ["Trans", "Trans + Inv"]
    first = ROOM * STEPS[1]  # where 0 is
    assert [label.get_text() for label in drawn["Trans"].get_yticklabels()] == ["MLM", "ALIGN-MLM"]
    for panel in drawn.values():
        heights = []
        for quantity in QUANTITIES:
            colour, marker = growth.LINES[quantity.name]
            marks = [line for line in panel.lines if (line.get_marker(), line.get_color()) == (marker, colour)]
            median, end = (STEPS[ORDER.index(quantity.name)], STEPS[ORDER.index(quantity.name)])
            if quantity.name == "gradients":
                median, end = first, STEPS[3]
            elif quantity.name == ORDER[-1]:
                median = end = panel.texts[0].get_position()[0]
            assert [coordinates(line)[0].tolist() for line in marks] == [[median]] * 2
            hollow = {line.get_markerfacecolor() == "none" for line in marks}
            assert hollow == {quantity.name == ORDER[-1]}
            rows = [float(coordinates(line)[1][0]) for line in marks]
            assert rows[1] - rows[0] == pytest.approx(1)
            heights.append(rows[0])
            ranges = [line for line in panel.lines if line.get_color() == colour and line.get_linestyle() == "-"]
            assert [[end.tolist() for end in coordinates(line)] for line in ranges] == [
                [[median, end], [row, row]] for row in rows
            ]
        assert heights == sorted(heights) and heights[0] == pytest.approx(-heights[-1])
        assert np.diff(heights) == pytest.approx(heights[1] - heights[0]) and heights[-1] < 0.5
        shaded = [patch.get_bbox() for patch in panel.patches]
        assert [(box.y0, box.y1) for box in shaded] == [(0.5, 1.5)]
        low, high = panel.get_xlim()
        assert low < first and panel.texts[0].get_position()[0] < high


def test_the_null_of_objectives_with_other_steps_has_no_gaps() -> None:
    """One is probed at steps of its own; between its steps its null counts as it runs."""
    results = grown()
    records = [
        replace(record, step=record.step + 5, null=Null(2.0, 1.0, 3.0, 200)) if "ALIGN" in record.run else record
        for record in results.records
    ]
    figure = predicted_figure(Results(results.runs.values(), records), "tiny")
    assert figure
    (band,) = [one for one in figure.figure.axes[0].collections if to_hex(one.get_facecolor()[0]) == NULL.lower()]
    at = dict[float, list[float]]()
    for x, y in band.get_paths()[0].vertices:
        at.setdefault(round(float(x), 6), []).append(float(y))
    widths = [max(ys) - min(ys) for _, ys in sorted(at.items())][1:-1]  # each has a step of its own at an end
    assert len(widths) == 2 * 7 - 2
    assert widths == pytest.approx([2.02] * len(widths))  # from 1.0 to 3.02 everywhere


def test_bands_of_lines_with_other_steps_do_not_meet_them() -> None:
    """Two lines that cross between their steps: neither band is drawn where they do."""
    results = grown(objectives=("MLM", "ALIGN-MLM"), transforms=("trans",))
    odd = {step: step + step // 3 for step in (8, 16, 32, 64, 128, 256)}
    records = [
        replace(record, step=odd.get(record.step, 0), value=record.value) if "ALIGN" in record.run else record
        for record in results.records
    ]
    figure = predicted_figure(Results(results.runs.values(), records), "tiny")
    assert figure
    panel = figure.figure.axes[0]
    lines = [
        line.get_xydata() for line in panel.get_lines() if len(line.get_xydata()) == 7 and line.get_marker() != "None"
    ]
    bands = [one for one in panel.collections if to_hex(one.get_facecolor()[0]) != NULL.lower()]
    assert len(lines) == 2 and bands
    for band in bands:
        corners = band.get_paths()[0].vertices
        path = PlotPath(np.column_stack([np.log(corners[:, 0]), corners[:, 1]]))
        inside = [path.contains_points(_along(line), radius=-1e-9).any() for line in lines]
        assert sum(inside) == 1  # its own line, and no other


def _along(line: np.ndarray) -> np.ndarray:
    """Points of a line as a logarithmic axis draws it, (400, 2)."""
    known = np.log(line[:, 0])
    x = np.linspace(known[0], known[-1], 400)
    return np.column_stack([x, np.interp(x, known, line[:, 1])])


def test_one_probe_or_nothing_is_no_figure() -> None:
    results = grown(seeds=1)
    first = type(results)(results.runs.values(), [record for record in results.records if not record.step])
    for draw in (onset_figure, predicted_figure, aligned_figure):
        assert draw(first, "tiny") is None
    assert "One seed." in predicted_figure(results, "tiny").caption  # type: ignore[union-attr]


def test_findings_tell_what_comes_first_and_whether_seeds_agree() -> None:
    said = list(growth_findings(grown(later={("gradients", 1): 3})))
    assert said[0].startswith("Of 4 pairs of a language and an objective, what leaves its null first is gradients in 4")
    assert said[1] == "Never above the null in at least half of the seeds: held-out types in 4."
    assert said[2].startswith("MLM under Trans: gradients (0), loss (8)")
    assert said[-1] == "The order is the same in all 3 seeds for 0 of 4."
    assert "CKA" in dict(terms(grown()))
