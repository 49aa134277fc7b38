"""Figures in a page: every mark says what it shows, and the figure itself is unchanged."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from calque.analysis.papers.align_mlm.figures import correlation_figure, delta_figure
from calque.analysis.report.drawing import bar, draw_line, key, legend, marks_of, styled, written
from calque.analysis.report.html_figure import figure_html, vectors
from calque.analysis.report.plot import Plot
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Results
from tests.analysis.toy import joined, toy_published, toy_records


@pytest.fixture(scope="module")
def results() -> Results:
    return joined(toy_records(2), toy_published())


@pytest.fixture(scope="module")
def plot(results: Results) -> Plot:
    plot = delta_figure(results, "toy")
    assert plot
    return plot


def test_a_mark_has_its_panel_series_place_value_and_interval(results: Results, plot: Plot) -> None:
    words = {mark.words for mark in vectors(plot)[1]}
    for objective in results.objectives:
        for transform in results.transforms:
            delta = mean(results.deltas(objective, transform, "nli", "accuracy"))
            assert delta and delta.interval
            low, high = (written(100 * max(-1.0, min(1.0, end))) for end in delta.interval)
            panel, series = results.transform_title(transform), results.objective_title(objective)
            value = f"{written(100 * delta.mean)} [{low}, {high}]"
            assert any(word.startswith(f"{panel} · {series} · NLI accuracy · ") and value in word for word in words)


def test_marks_are_at_the_ends_of_bars_and_at_markers_inside_their_panel() -> None:
    with styled(4, 3, "Bars") as figure:
        axes = figure.subplots()
        bar(axes, 0, 50, 0.5, (40, 60), color="#0000ff")
        draw_line(axes, [0, 0.5, 9], [10, 20, 30], [(5, 15), None, None], marker="o", color="#ff0000")
        draw_line(axes, [0, 1], [40, 40], fmt="--", color="#000000")
        axes.set(xlim=(-1, 2), ylim=(0, 100), xlabel="place", ylabel="percent", title="Panel")
        legend(figure, [key("red", "#ff0000", "o"), key("level", "#000000", "", line="--")], 2)
        figure.draw_without_rendering()
    marks = marks_of(figure)
    assert [mark.words for mark in marks] == [
        "Panel · place: 0 · percent: 50 [40, 60]",
        "Panel · red · place: 0 · percent: 10 [5, 15]",
        "Panel · red · place: 0.5 · percent: 20",
        "Panel · level · place: 0.5 · percent: 40",
    ]
    assert marks[0].x == marks[1].x < marks[2].x and marks[0].y < marks[3].y < marks[2].y < marks[1].y


def test_a_fill_has_an_entry_of_its_own_and_published_points_have_none(results: Results) -> None:
    plot = correlation_figure(results, "toy")
    assert plot
    marks = vectors(plot)[1]
    assert {mark.panel for mark in marks} == {"NLI, accuracy", "NER, F1", "POS, F1 on bare tags"}
    published = [mark for mark in marks if "published" in mark.series]
    assert published and all("Trans" not in mark.series for mark in published)
    assert any(mark.series == "XLM, Trans + Inv" for mark in marks)


def test_a_figure_is_well_formed_with_ids_of_its_own_and_colours_for_both_modes(plot: Plot, tmp_path: Path) -> None:
    html = figure_html(plot)
    svg = html[html.index("<svg") : html.index("</svg>") + 6]
    root = ElementTree.fromstring(re.sub(r"=([\w-]+)(?=[ />])", r'="\1"', svg.replace("role=group", 'role="group"')))
    ids = [node.attrib["id"] for node in root.iter() if "id" in node.attrib]
    assert ids and all(name.startswith(plot.name) for name in ids) and len(set(ids)) == len(ids)
    assert "light-dark(#0072b2," in svg and not re.search(r": #[0-9a-f]{6}", svg) and "metadata" not in svg
    plot.save(tmp_path)
    assert "class=mark" not in (tmp_path / f"{plot.name}.svg").read_text(encoding="utf-8")


def test_a_table_has_every_number_that_is_drawn(plot: Plot) -> None:
    html, marks = figure_html(plot), vectors(plot)[1]
    assert f"The {len(marks)} numbers drawn" in html
    assert html.count("<tr data-kind=ours>") == len(marks) == html.count("<circle class=mark")


def test_numbers_have_three_digits_or_more() -> None:
    numbers = {0.0: "0", 1234.0: "1,234", -3.0: "−3", 96.237: "96.2", 5.4123: "5.41", -0.03126: "−0.0313"}
    assert {number: written(number) for number in numbers} == numbers
