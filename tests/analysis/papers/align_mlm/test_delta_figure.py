"""Figure 2: each bar is as high as its Delta, with its interval, beside the paper's own number."""

from dataclasses import replace
from itertools import pairwise

import pytest
from matplotlib.colors import same_color
from matplotlib.patches import Patch, Rectangle

from calque.analysis.papers.align_mlm.figures import ABREAST, compared_metrics, delta_figure
from calque.analysis.papers.looks import BY_NAME
from calque.analysis.records.record import Published, Record
from calque.analysis.report.drawing import HALF, INK, MOST
from tests.analysis.drawn import (
    OBJECTIVES,
    bars,
    coordinates,
    intervals,
    laid_out,
    legend,
    legible,
    looked,
    panels,
    points,
)
from tests.analysis.runs import number
from tests.analysis.toy import joined, toy_published, toy_records

METRICS = {"nli": "accuracy", "pos": "accuracy"}
DELTAS = {("MLM", "trans"): 0.35, ("XLM", "trans"): 0.4, ("MLM", "trans.inv"): 0.6, ("XLM", "trans.inv"): 0.3}


def records(*seeds: float) -> list[Record]:
    """SUP of .9 and a ZS that lies Delta below, a seed by seed more; NLI's Delta is half of POS's."""
    return [
        number(t, o, seed, measure, task, metric, value, 100)
        for seed, more in enumerate(seeds)
        for (o, t), delta in DELTAS.items()
        for task, metric in METRICS.items()
        for measure, value in (("SUP", 0.9), ("ZS", 0.9 - (delta + more) / (1 + (task == "nli"))))
    ]


def test_bars_are_as_high_as_the_mean_over_seeds() -> None:
    drawn = panels(delta_figure(joined(records(-0.02, 0.0, 0.02)), "toy"))
    assert list(drawn) == ["Trans", "Trans + Inv"]
    for transform, panel in zip(("trans", "trans.inv"), drawn.values(), strict=True):
        for objective in ("MLM", "XLM"):
            delta = DELTAS[objective, transform]
            heights = [height for _, height in sorted(bars(panel, OBJECTIVES[objective][0]).items())]
            assert heights == pytest.approx([50 * delta, 100 * delta])  # NLI, then POS
        assert [label.get_text() for label in panel.get_xticklabels()] == ["NLI\naccuracy", "POS\naccuracy"]
    mlm, xlm = (list(bars(drawn["Trans"], OBJECTIVES[name][0])) for name in ("MLM", "XLM"))
    assert [round(x) for x in mlm] == [0, 1] and all(a < b for a, b in zip(mlm, xlm, strict=True))


def test_intervals_lie_on_their_bars_and_end_at_100() -> None:
    """t of 4.303 with two degrees of freedom, times .25 over the root of 3, is 62.1 points."""
    panel = panels(delta_figure(joined(records(-0.25, 0.0, 0.25)), "toy"))["Trans + Inv"]
    bar = next(x for x, height in bars(panel, OBJECTIVES["MLM"][0]).items() if height == pytest.approx(60))
    (interval,) = (ends for ends in intervals(panel) if abs(ends[0][0] - bar) < 0.1)
    assert [y for _, y in interval] == pytest.approx([60 - 62.1, 100], abs=0.1)


def test_published_numbers_are_of_the_same_metric_and_in_their_place() -> None:
    results = joined(toy_records(1), toy_published())
    plot = delta_figure(results, "toy")
    inverted = panels(plot)["Trans + Inv"]
    assert [y for _, y in points(inverted, "D", INK)] == pytest.approx([-0.2, 38.5])  # NLI, POS
    assert [round(x) for x, _ in points(inverted, "D", INK)] == [0, 2]
    assert inverted.get_xticklabels()[2].get_text() == "POS\nF1 on\nbare tags"
    assert not points(panels(plot)["Trans"], "D", INK)
    assert plot and "paper" in plot.caption
    assert {(number.task, number.metric, number.value) for number in plot.published} == {
        ("pos", "f1_bare_tags", 0.385),
        ("nli", "accuracy", -0.002),
    }


def test_each_task_stands_once_by_the_metric_that_is_compared() -> None:
    alone = delta_figure(joined(toy_records(1)), "toy")
    labels = [label.get_text() for label in panels(alone)["Trans"].get_xticklabels()]
    assert labels == ["NLI\naccuracy", "NER\nF1", "POS\naccuracy"]
    assert alone and "paper" not in alone.caption
    assert {(r.task, r.metric) for r in alone.records if isinstance(r, Record)} == {
        ("nli", "accuracy"),
        ("ner", "f1"),
        ("pos", "accuracy"),
    }


def test_another_papers_scores_choose_no_metric() -> None:
    score = Published("XLM-Align", 3, "XLM-Align", "", "ZS", "pos", "f1_bare_tags", 0.7)
    labels = panels(delta_figure(joined(toy_records(1), [score]), "toy"))["Trans"].get_xticklabels()
    assert labels[2].get_text() == "POS\naccuracy"


def test_intervals_say_what_they_cover() -> None:
    one, two = (delta_figure(joined(toy_records(seeds)), "toy") for seeds in (1, 2))
    assert one and "do not cover other seeds" in one.caption
    assert two and "intervals over seeds" in two.caption


def many_records() -> list[Record]:
    """A study of more transforms than a figure has fills."""
    return [
        replace(record, language=language, run=record.run.replace(record.language, language, 1))
        for percent in (10, 20, 30, 40)
        for record in toy_records(1)
        for language in [f"{record.language}.inv-{percent}"]
    ]


def test_panels_stand_in_rows_no_wider_than_a_page() -> None:
    some = [record for record in many_records() if not record.language.endswith(("-30", "-40"))]
    plots = [
        delta_figure(joined([r for r in some if r.language in transforms]), "toy")
        for transforms in (joined(some).transforms[:2], joined(some).transforms)
    ]
    (two, four) = [plot.figure for plot in plots if plot]
    assert two.get_figwidth() == four.get_figwidth() == HALF
    assert four.get_figheight() > two.get_figheight()
    columns = {round(panel.get_position().x0, 2) for panel in four.axes}
    assert len(columns) <= ABREAST and len(four.axes) == 4


def test_panels_of_many_bars_stand_below_each_other() -> None:
    few = toy_records(1)
    names = list(BY_NAME)[:8]
    many = [replace(r, run=r.run.replace("MLM", name)) for r in few if " MLM " in r.run for name in names]
    for records, abreast in ((few, ABREAST), (many, 1)):
        plot = delta_figure(joined(records), "toy")
        assert plot and len({round(panel.get_position().x0, 2) for panel in plot.figure.axes}) == abreast


def test_nothing_measured_or_too_much_is_no_figure() -> None:
    assert delta_figure(joined([]), "toy") is None
    results = joined(many_records())
    assert len(results.transforms) == 8 > MOST
    assert delta_figure(results, "toy") is None


def test_bars_of_a_group_stand_about_its_name_and_apart() -> None:
    """The interval is left of a bar's middle and the paper's number as far right of it, both on the bar."""
    results = joined(toy_records(3), toy_published())
    panel = panels(delta_figure(results, "toy"))["Trans + Inv"]
    edges = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in panel.patches if isinstance(bar, Rectangle))
    assert len(edges) == 12
    assert all(end < start for (_, end), (start, _) in pairwise(edges))
    for group in range(3):
        middles = [(low + high) / 2 for low, high in edges[4 * group : 4 * group + 4]]
        assert sum(middles) / 4 == pytest.approx(group)
        gaps = [after - before for before, after in pairwise(middles)]
        assert gaps == pytest.approx([gaps[0]] * 3) and gaps[0] > 0
    bars_at = sorted({low[0] for low, _ in intervals(panel)})
    numbers_at = [x for x, _ in points(panel, "D", INK)]
    for (low, high), interval in zip(edges, bars_at, strict=True):
        assert low < interval < (low + high) / 2
    for place, x in zip((0, 8), numbers_at, strict=True):  # MLM's on NLI and on POS
        assert x < edges[place][1] and x + bars_at[place] == pytest.approx(sum(edges[place]))
    (zero,) = (line for line in panel.lines if line.get_marker() == "None")
    assert list(coordinates(zero)[1]) == [0, 0]
    assert not any(line.get_visible() for line in panel.get_xgridlines())
    assert all(line.get_visible() for line in panel.get_ygridlines())


@pytest.mark.parametrize(("objectives", "tasks", "abreast"), [(2, 1, 2), (4, 3, 2), (9, 3, 1)])
def test_many_bars_have_fewer_panels_in_a_row(objectives: int, tasks: int, abreast: int) -> None:
    """4.8 inches, of which .84 hold bars of .11 inches at least, are 36 bars: two panels of 12, or one of 27."""
    names = [*BY_NAME][:objectives]
    results = joined(
        [
            number(f"trans.inv-{n}", name, 0, measure, task, metric, 0.5, 99)
            for n in (10, 20, 30, 40)
            for name in names
            for task, metric in (("nli", "accuracy"), ("ner", "f1"), ("pos", "accuracy"))[:tasks]
            for measure in ("SUP", "ZS")
        ]
    )
    plot = delta_figure(results, "toy")
    assert plot
    heights = laid_out(plot.figure)
    left = [round(panel.get_position().x0, 2) for panel in plot.figure.axes]
    assert len(heights) == 4 and len(set(left)) == abreast
    assert min(heights) > 1, "more rows make a taller figure, not lower panels"


def test_it_can_be_read_and_has_one_scale() -> None:
    many = joined(many_records())
    six = joined([record for record in many_records() if record.language in many.transforms[:6]])
    for results in (joined(toy_records(3), toy_published()), six):
        plot = delta_figure(results, "toy")
        assert plot
        legible(plot.figure)
        assert len({panel.get_ylim() for panel in plot.figure.axes}) == 1
        labelled = [bool(panel.get_ylabel()) for panel in plot.figure.axes]
        assert labelled == [place % 2 == 0 for place in range(len(results.transforms))]
        entries = legend(plot.figure)
        expected = {results.objective_title(name): colour for name, (colour, _) in OBJECTIVES.items()}
        for name, colour in expected.items():
            entry = entries.pop(name)
            assert isinstance(entry, Patch) and same_color(entry.get_facecolor(), colour)
        published = {"published, at the paper’s scale": (INK, "D", "none", "None")} if results.published else {}
        assert {name: looked(entry) for name, entry in entries.items()} == published


@pytest.mark.parametrize(
    ("table", "measure", "metric", "compared"),
    [
        (3, "DELTA", "f1_bare_tags", "f1_bare_tags"),
        (3, "ZS", "f1_bare_tags", "accuracy"),  # no Delta to stand beside
        (8, "DELTA", "f1_bare_tags", "accuracy"),  # the table of alignment repeats some
        (3, "DELTA", "accuracy", "accuracy"),
    ],
)
def test_pos_is_compared_by_what_the_paper_prints_of_its_delta(
    table: int, measure: str, metric: str, compared: str
) -> None:
    number = Published("ALIGN-MLM", table, "MLM", "trans.inv", measure, "pos", metric, 0.4)
    found = compared_metrics(joined(toy_records(1), [number]))
    assert found == {"nli": "accuracy", "ner": "f1", "pos": compared}


def test_a_task_that_was_not_measured_is_not_compared() -> None:
    pos = [record for record in toy_records(1) if record.task == "pos"]
    assert compared_metrics(joined(pos)) == {"pos": "accuracy"}
