"""Figures in a page: every mark says what it shows, and the figure itself is unchanged."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest
from matplotlib.collections import LineCollection

from calque.analysis.papers.align_mlm.figures import correlation_figure, delta_figure
from calque.analysis.records.run import Described
from calque.analysis.report.html_figure import LARGEST, PIXELS, SMALLEST, figure_html, vectors
from calque.analysis.report.marks import Mark, read, written
from calque.analysis.report.plot import Plot
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Results
from tests.analysis.saved import saved
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
    _, reading = vectors(plot)
    words = {mark.words for mark in reading.marks}
    for objective in results.objectives:
        for transform in results.transforms:
            delta = mean(results.deltas(objective, transform, "nli", "accuracy"))
            assert delta and delta.interval
            low, high = (written(100 * max(-1.0, min(1.0, end))) for end in delta.interval)
            panel, series = results.transform_title(transform), results.objective_title(objective)
            value = f"{written(100 * delta.mean)} [{low}, {high}]"
            assert any(word.startswith(f"{panel} · {series} · NLI accuracy · ") and value in word for word in words)


def test_marks_are_where_their_bars_are(plot: Plot) -> None:
    """The corners of each bar in the SVG enclose its mark, up to rounding."""
    svg, reading = vectors(plot)
    bars = re.findall(r'<g data-s="(\d)"><path d="M ([\d.]+) ([\d.]+) *L ([\d.]+) ([\d.]+) *L ([\d.]+) ([\d.]+)', svg)
    tops = {(int(series), round((float(x0) + float(x1)) / 2), round(float(y))) for series, x0, _, x1, _, _, y in bars}
    marks = {(mark.entries[0], round(mark.x), round(mark.y)) for mark in reading.marks}
    near = [any(s == t and abs(x - a) <= 1 and abs(y - b) <= 1 for t, a, b in marks) for s, x, y in tops]
    assert bars and all(near)


def test_an_interval_has_the_series_of_its_bar(plot: Plot) -> None:
    _, reading = vectors(plot)
    intervals = {entries for artist, entries in reading.artists if isinstance(artist, LineCollection)}
    assert intervals == {mark.entries for mark in reading.marks if "[" in mark.value} != set()


@pytest.mark.parametrize(("aside", "inside"), [(0.0, True), (-0.49, True), (0.49, True), (0.51, False)])
def test_an_interval_is_that_of_the_bar_which_it_is_inside(aside: float, inside: bool) -> None:
    figure, axes = plt.subplots()
    axes.bar([0, 1.5], [2, 3], width=1)
    axes.vlines(aside, 1.5, 2.5)
    figure.draw_without_rendering()
    first, second = read(figure).marks
    plt.close(figure)
    assert (first.value, second.value) == ("2 [1.5, 2.5]" if inside else "2", "3")


def test_words_in_a_panel_name_the_place_where_they_stand_in_its_data() -> None:
    figure, axes = plt.subplots()
    axes.set_xlabel("language")
    axes.bar([1, 2], [3, 4], width=0.5)
    axes.text(1, 0, "Trans")
    axes.text(2, 0, "aside", transform=axes.transAxes)
    figure.draw_without_rendering()
    first, second = read(figure).marks
    plt.close(figure)
    assert "Trans" in first.words and "aside" not in second.words


def test_a_plot_is_saved_without_the_marks_of_its_page(results: Results, tmp_path: Path) -> None:
    plot = correlation_figure(results, "toy")
    assert plot
    svg, reading = vectors(plot)
    file = saved(plot, tmp_path).svg.read_text(encoding="utf-8")
    assert "data-s=" in svg and not re.search("data-s|entries-|class=mark", file)
    panels = {mark.panel for mark in reading.marks}
    assert panels == {"NLI, accuracy", "NER, F1", "POS, F1 on bare tags"}, "titles without statistics"
    published = [mark for mark in reading.marks if "published" in mark.series]
    assert published and all("Trans" not in mark.series for mark in published), "fills are for our points"
    assert any(mark.series == "XLM, Trans + Inv" for mark in reading.marks)


def test_a_figure_is_well_formed_with_ids_of_its_own_and_colours_for_both_modes(plot: Plot) -> None:
    html = figure_html(plot)
    svg = html[html.index("<svg") : html.index("</svg>") + 6]
    root = ElementTree.fromstring(re.sub(r"=([\w-]+)(?=[ />])", r'="\1"', svg.replace("role=group", 'role="group"')))
    ids = [node.attrib["id"] for node in root.iter() if "id" in node.attrib]
    assert ids and all(name.startswith(plot.name) for name in ids) and len(set(ids)) == len(ids)
    assert "light-dark(#0072b2," in svg and not re.search(r": #[0-9a-f]{6}", svg) and "metadata" not in svg
    width = PIXELS * float(root.attrib["viewBox"].split()[2])
    assert f"min-width:{SMALLEST * width:.0f}px;max-width:{LARGEST * width:.0f}px" in svg


def test_a_table_has_every_number_that_is_drawn(plot: Plot) -> None:
    html = figure_html(plot)
    _, reading = vectors(plot)
    assert f"The {len(reading.marks)} numbers drawn" in html
    assert html.count("<tr data-kind=ours>") == len(reading.marks) == html.count("<circle class=mark")


def test_intervals_name_their_seeds_if_all_have_as_many(results: Results, plot: Plot) -> None:
    mixture = Described("half", "half of each", ({"kind": "Mixture", "shares": [0.5]},))
    runs = [replace(run, mixture=mixture) for run in results.runs.values()]
    html = figure_html(plot, runs)
    titles = re.findall(r"<title>([^<]*)</title>", html)
    assert "numbers drawn; intervals over 2 seeds</summary>" in html
    assert all(title.endswith("] · 2 seeds") for title in titles if "[" in title) and any("[" in t for t in titles)
    assert "seeds" not in "".join(re.findall(r"<title>([^<]*)</title>", figure_html(plot, runs[1:])))


def test_every_series_has_a_switch(plot: Plot) -> None:
    names = re.findall(r"<button [^>]*>([^<]+)</button>", figure_html(plot))
    assert names[:4] == ["MLM", "XLM", "DICT-MLM", "ALIGN-MLM"] and "published, at the paper’s scale" in names


def test_a_mark_without_a_series_or_place_is_its_value() -> None:
    assert Mark(0, 0, (), "", "", "", "", "5").words == "5"
    assert Mark(0, 0, (1,), "Trans", "MLM", "step: 5", "Δ", "−1").words == "Trans · MLM · step: 5 · Δ: −1"


def test_numbers_have_three_digits_or_more() -> None:
    assert [written(n) for n in (0.0, 1234.0, -3.0, 96.237, 5.4123, -0.03126)] == [
        "0",
        "1,234",
        "−3",
        "96.2",
        "5.41",
        "−0.0313",
    ]
