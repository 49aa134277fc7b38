"""Figure 2: each bar is as high as its Delta, with its interval, beside the paper's own number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.papers.align_mlm.delta_figure import ABREAST, delta_figure
from analysis.papers.looks import OWN
from analysis.records.record import Published, Record
from analysis.report.style import FULL, INK, MOST
from tests.analysis.drawn import bars, intervals, panels, points
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
            heights = [height for _, height in sorted(bars(panel, OWN[objective][0]).items())]
            assert heights == pytest.approx([50 * delta, 100 * delta])  # NLI, then POS
        assert [label.get_text() for label in panel.get_xticklabels()] == ["NLI\naccuracy", "POS\naccuracy"]
    mlm, xlm = (list(bars(drawn["Trans"], OWN[name][0])) for name in ("MLM", "XLM"))
    assert [round(x) for x in mlm] == [0, 1] and all(a < b for a, b in zip(mlm, xlm, strict=True))


def test_intervals_lie_on_their_bars_and_end_at_100() -> None:
    """t of 4.303 with two degrees of freedom, times .25 over the root of 3, is 62.1 points."""
    panel = panels(delta_figure(joined(records(-0.25, 0.0, 0.25)), "toy"))["Trans + Inv"]
    bar = next(x for x, height in bars(panel, OWN["MLM"][0]).items() if height == pytest.approx(60))
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
    one, three = (delta_figure(joined(toy_records(seeds)), "toy") for seeds in (1, 3))
    assert one and "say nothing of other seeds" in one.caption
    assert three and "intervals over seeds" in three.caption


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
        for transforms in (joined(some).transforms[:3], joined(some).transforms)
    ]
    (three, four) = [plot.figure for plot in plots if plot]
    assert three.get_figwidth() == four.get_figwidth() == FULL
    assert four.get_figheight() > three.get_figheight()
    columns = {round(panel.get_position().x0, 2) for panel in four.axes}
    assert len(columns) <= ABREAST and len(four.axes) == 4


def test_nothing_measured_or_too_much_is_no_figure() -> None:
    assert delta_figure(joined([]), "toy") is None
    results = joined(many_records())
    assert len(results.transforms) == 8 > MOST
    assert delta_figure(results, "toy") is None
