"""Figures of all records, onsets in their rows, and nulls without gaps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from calque.analysis.papers.growth import figures as growth
from calque.analysis.papers.growth.curves import QUANTITIES, growth_findings
from calque.analysis.papers.growth.figures import (
    NULL,
    ROOM,
    aligned_figure,
    onset_figure,
    predicted_figure,
)
from calque.analysis.papers.texts import terms
from calque.analysis.records.record import Null
from calque.analysis.results.results import Results
from tests.analysis.drawn import coordinates, legend, panels
from tests.analysis.papers.growth.grown import ORDER, STEPS, grown
from tests.analysis.saved import saved


def test_figures_show_every_quantity_and_its_records(tmp_path: Path) -> None:
    results = grown()
    figures = [figure for draw in (onset_figure, predicted_figure, aligned_figure) if (figure := draw(results, "tiny"))]
    assert [figure.name for figure in figures] == ["figure-onset", "figure-predicted", "figure-aligned"]
    assert sum(len(figure.records) for figure in figures[1:]) == len(figures[0].records) == 2 * 2 * 3 * 7 * 7
    for quantity in QUANTITIES:
        assert any(quantity.text in figure.caption for figure in figures)
    for figure in figures:
        assert saved(figure, tmp_path).png.stat().st_size > 10_000
    assert len(figures[1].figure.axes) == 6
    assert list(legend(figures[1].figure))[:2] == ["MLM", "ALIGN-MLM"]


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
                median = end = growth.StepScale(STEPS).never
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
        assert low < first and growth.StepScale(STEPS).never < high


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
